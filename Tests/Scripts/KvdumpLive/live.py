"""Runs kvdump's commands against a store that a second process is writing to, again and again, and compares what they print
with what that process says it has written. Ends when enough has happened to the store: segments rolled over and
removed, checkpoints replaced, the writer killed and started again.

    live.py KVDUMP WRITER DIRECTORY
"""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

kvdump, writer_path, directory = sys.argv[1:]
store = os.path.join(directory, "store")
# Commits that the writer may be ahead of tail -f: a segment that is filled and compacted before tail -f opens it is missed,
# and has about 290 commits.
LEAD = 200
ROUNDS = int(os.environ.get("CAIRN_ROUNDS", 2))
DEADLINE = time.monotonic() + 240
problems = []
# Calls that change a file or a directory, or lock something.
CHANGES = re.compile(
    r"\b(O_WRONLY|O_RDWR|O_CREAT)\b(?!.*/dev/)|\b(unlink|unlinkat|rename|renameat2?|mkdir|mkdirat|truncate|ftruncate"
    r"|fallocate|flock|pwrite64|chmod|utimensat)\(")


def fail(words):
    problems.append(words)


def interruptible():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class History:
    """What has been committed, by what the writer says and by what tail -f shows."""

    def __init__(self):
        self.changed = threading.Condition()
        self.written = []
        self.shown = []
        self.segments = set()
        self.state = collections.defaultdict(dict)
        self.applied = 0

    def wait(self, condition, what):
        with self.changed:
            if not self.changed.wait_for(lambda: problems or condition(), max(0, DEADLINE - time.monotonic())):
                fail(f"waited in vain for {what}")
            return not problems

    def rows(self, sequence):
        """The rows as they were after a commit; sequences may only rise from one call to the next."""
        self.wait(lambda: self.shown and self.shown[-1]["sequence"] >= sequence, f"commit {sequence}")
        while self.applied < len(self.shown) and self.shown[self.applied]["sequence"] <= sequence:
            for change in self.shown[self.applied]["changes"]:
                rows = self.state[change["keyspace"]]
                if change["kind"] == "put":
                    rows[change["key"]["integer"]] = change["value"]["text"]
                elif change["kind"] == "tombstone":
                    rows.pop(change["key"]["integer"], None)
                elif change["kind"] == "keyspace dropped":
                    rows.clear()
            self.applied += 1
        return {name: dict(rows) for name, rows in self.state.items() if rows}


history = History()


class Writer:
    def __init__(self):
        self.process = subprocess.Popen([writer_path, store, str(LEAD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            if not line.endswith(b"\n"):
                break  # Killed while it was printing.
            with history.changed:
                history.written.append(json.loads(line))
                history.changed.notify_all()

    def say(self, words):
        try:
            self.process.stdin.write(f"{words}\n".encode())
            self.process.stdin.flush()
        except OSError:
            pass  # It has been killed.

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()

    def stop(self):
        self.say("stop")
        if self.process.wait(timeout=60) != 0:
            fail("the writer failed")
        self.thread.join()


class Tail:
    def __init__(self):
        self.process = subprocess.Popen(
            [kvdump, "tail", "-f", store, "-n", "1000000", "--format", "jsonl"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=interruptible)
        self.first = json.loads(self.process.stdout.readline())
        self.rest = b""
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            if not line.endswith(b"\n"):
                fail("tail -f ends within a line")
                return
            item = json.loads(line)
            if "missedAfter" in item:
                fail(f"tail -f missed commits: {item}")
                continue
            with history.changed:
                if history.shown and item["sequence"] <= history.shown[-1]["sequence"]:
                    fail(f"tail -f shows {item['sequence']} after {history.shown[-1]['sequence']}")
                history.shown.append(item)
                history.segments.add(item["segment"])
                history.changed.notify_all()
            writer.say(item["sequence"])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(timeout=30) != -signal.SIGINT:
            fail(f"Control-C ended tail -f with {self.process.returncode}")
        self.thread.join()
        words = self.process.stderr.read()
        if words:
            fail(f"tail -f said {words}")



class Run:
    """One run of kvdump. Of every fifth the system calls are looked at, where that is possible."""

    count = 0
    trace = os.path.join(directory, "trace")
    tracing = ["strace", "-f", "-o", trace, "-e", "trace=%file,ftruncate,fallocate,flock,pwrite64"]
    can_trace = shutil.which("strace") and subprocess.run(tracing + ["true"], capture_output=True).returncode == 0

    def __init__(self, *arguments):
        self.words = " ".join(arguments)
        Run.count += 1
        is_traced = Run.can_trace and Run.count % 5 == 0
        done = subprocess.run((Run.tracing if is_traced else []) + [kvdump, *arguments], capture_output=True)
        self.out = done.stdout.decode()
        self.says = done.stderr.decode()
        self.status = done.returncode
        if self.status != 0 or self.says:
            fail(f"kvdump {self.words}: exit status {self.status}, said {self.says!r}, printed {self.out[-2000:]!r}")
        if is_traced:
            for line in open(Run.trace, errors="replace"):
                if f'"{store}' in line and CHANGES.search(line):
                    fail(f"kvdump {self.words} changes something: {line}")

    def documents(self):
        """JSON, of which the first object has the schema and the last of several says that nothing is missing."""
        try:
            lines = [json.loads(self.out)] if "json" in self.words.split() else [
                json.loads(line) for line in self.out.splitlines()]
        except ValueError as error:
            fail(f"kvdump {self.words}: {error} in {self.out[-2000:]!r}")
            return []
        if not lines or list(lines[0])[:2] != ["schema", "schemaVersion"]:
            fail(f"kvdump {self.words}: no schema in {self.out[:200]!r}")
        elif len(lines) > 1 and lines[-1].get("end") is not True:
            fail(f"kvdump {self.words}: no end in {self.out[-200:]!r}")
        return lines


def check(condition, run, words):
    if not condition:
        fail(f"kvdump {run.words}: {words}")


def look_verify(depth, form):
    run = Run("verify", store, "--depth", depth, "--format", form)
    lines = run.documents()
    if not lines:
        return
    findings, totals = (lines[0]["findings"], lines[0]) if form == "json" else (lines[1:-1], lines[-1])
    check(totals["isSound"] and totals["records"] > 0, run, f"isSound is {totals}")
    for finding in findings:
        check(False, run, f"{finding}")


def look_dump(form, path=store):
    run = Run("dump", path, "--format", form)
    lines = run.documents()
    if not lines:
        return
    if form == "json":
        lines = [lines[0]] if "lines" not in lines[0] else lines[0]["lines"]
    names = {line["keyspace"]: line["name"] for line in lines if "keyspace" in line and "name" in line}
    rows = collections.defaultdict(dict)
    for line in lines:
        if "in" in line and not line.get("old") and line["value"] is not None:
            rows[names[line["in"]]][line["key"]["integer"]] = line["value"]["text"]
    expected = history.rows(lines[0]["lastSequence"])
    for name in set(rows) | set(expected):
        check(rows.get(name, {}) == expected.get(name, {}), run,
              f"the rows of {name} are not those of commit {lines[0]['lastSequence']}")


def look_copy(command):
    copy = os.path.join(directory, "copy")
    Run(command, store, "-o", copy)
    if not problems:
        look_dump("jsonl", copy)
    shutil.rmtree(copy, ignore_errors=True)


def look_backup(*options):
    """A backup into the same directory each time."""
    backup = os.path.join(directory, "backup")
    Run("backup", store, "-o", backup, *options)
    if not problems:
        look_dump("jsonl", backup)
    if not problems:
        Run("verify", backup)


def look_scan(form):
    run = Run("scan", store, "accounts", "--format", form)
    if form == "text":
        pairs = [line.split("\t") for line in run.out.splitlines()]
        keys, values = [int(pair[0]) for pair in pairs], [int(json.loads(pair[1])) for pair in pairs]
    else:
        lines = run.documents()
        rows = lines[0]["rows"] if form == "json" else lines[1:-1]
        keys = [row["key"]["integer"] for row in rows]
        values = [int(row["value"]["text"]) for row in rows]
    check(keys == list(range(100)), run, f"the rows are {keys}")
    check(sum(values) == 100000, run, f"the balances add up to {sum(values)}")


def look_figures(command, form):
    run = Run(command, store, "--format", form)
    if form == "text":
        check(run.out.endswith("\n"), run, "does not end with a line")
        return
    lines = run.documents()
    if not lines:
        return
    items = lines[0].get(command, lines[0].get("keyspaces", [])) if form == "json" else lines[1:-1]
    if command == "segments":
        for segment in items:
            check(segment["isSound"] and segment["state"] == "sound", run, f"{segment}")
    if command == "info":
        check(lines[0]["discardedBytes"] == 0, run, "there is a torn tail")
    if command in ("keyspaces", "info", "stats") and items:
        check([item["rows"] for item in items if item["name"] == "accounts"] == [100], run, f"accounts are {items}")


def look_records():
    run = Run("records", store, "--format", "jsonl")
    lines = run.documents()
    check(bool(lines) and lines[-1]["isSound"], run, "there is damage")
    for line in lines[1:-1]:
        check("invalid" not in line and "missing" not in line, run, f"{line}")


def look_row():
    run = Run("get", store, "accounts", "7")
    check(run.out.strip('"\n').lstrip("-").isdigit(), run, f"printed {run.out!r}")
    run = Run("history", store, "accounts", "7", "--log", "--format", "jsonl")
    sequences = [line["sequence"] for line in run.documents()[1:-1]]
    check(sequences == sorted(sequences, reverse=True) and sequences, run, f"the sequences are {sequences}")


def look_tail():
    """tail -f that is ended in the middle of things has printed whole lines and left out nothing."""
    tail = subprocess.Popen(
        [kvdump, "tail", "-f", store, "-n", "5", "--format", "jsonl"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=interruptible)
    lines = [tail.stdout.readline() for _ in range(20)]
    tail.send_signal(signal.SIGINT)
    rest, words = tail.stdout.read(), tail.stderr.read()
    tail.wait(timeout=30)
    if not all(lines):
        fail(f"tail -f -n 5 ended after {lines} and said {words}")
        return
    if tail.returncode != -signal.SIGINT or words:
        fail(f"Control-C ended tail -f with {tail.returncode}: {words}")
    if rest and not rest.endswith(b"\n"):
        fail(f"Control-C ended tail -f within a line: {rest[-100:]}")
        return
    compare_shown([json.loads(line) for line in lines[1:] + rest.splitlines()], "tail -f -n 5")


def compare_shown(items, words):
    """What tail has shown is a piece of all there is."""
    if any("sequence" not in item for item in items):
        fail(f"{words}: {[item for item in items if 'sequence' not in item]}")
        return
    first, last = items[0]["sequence"], items[-1]["sequence"]
    history.wait(lambda: history.shown[-1]["sequence"] >= last, f"commit {last}")
    with history.changed:
        expected = [item for item in history.shown if first <= item["sequence"] <= last]
    shown, known = ([item["sequence"] for item in list] for list in (items, expected))
    if shown != known:
        fail(f"{words} shows {shown} of {known}")
    for item, other in zip(items, expected):
        if item != other:
            fail(f"{words} shows {item}, and tail -f showed {other}")
            return


looks = [
    lambda: look_verify("quick", "json"), lambda: look_verify("checksums", "jsonl"),
    lambda: look_verify("full", "json"), lambda: look_verify("full", "jsonl"), lambda: look_dump("jsonl"), lambda: look_dump("json"),
    lambda: look_scan("text"), lambda: look_scan("json"), lambda: look_scan("jsonl"), look_records, look_row, look_tail,
    lambda: look_copy("compact"), lambda: look_copy("salvage"), lambda: look_copy("restore"),
    lambda: look_backup(), lambda: look_backup("--copy"), lambda: look_backup(),
    lambda: Run("verify", store), lambda: Run("dump", store, "accounts"), lambda: Run("hex", store, "MANIFEST"),
] + [
    lambda command=command, form=form: look_figures(command, form)
    for command in ("info", "stats", "segments", "keyspaces") for form in ("text", "json", "jsonl")]


def look():
    for round in range(ROUNDS):
        if problems:
            return
        for one in looks:
            if not problems:
                one()


def files(ending):
    return [name for name in os.listdir(store) if name.endswith(ending)]


def contents():
    found = {}
    for name in os.listdir(store):
        path = os.path.join(store, name)
        with open(path, "rb") as file:
            found[name] = (os.stat(path).st_mtime_ns, file.read())
    return found


checkpoints = set()
writer = Writer()
tail = None
try:
    history.wait(lambda: len(history.written) >= 100, "the first commits")
    tail = Tail()
    for life in range(2):
        before, known = len(history.shown), len(history.written)
        if life > 0:
            writer = Writer()
            # With its first commit it clears away what the other had begun.
            history.wait(lambda: len(history.written) > known, "a commit of the second writer")
        look()
        checkpoints.update(files(".checkpoint"))
        history.wait(lambda: len(history.shown) - before >= 5000, "commits")
        # The next writer knows nothing of what tail -f has not read yet, and may compact it.
        if life == 0:
            writer.kill()
        else:
            writer.stop()
        history.wait(lambda: history.shown[-1]["sequence"] >= history.written[-1]["sequence"], "the last commit")
    tail.end()

    # Nobody writes any more, so whatever changes has been changed by kvdump.
    before = contents()
    for one in looks:
        if not problems and one is not look_tail:
            one()
    if contents() != before:
        fail("looking has changed the store")
finally:
    for process in [writer.process] + ([tail.process] if tail else []):
        process.kill()

# The one commit that was not told before the writer was killed, and those that the engine makes of dictionaries.
written = {commit["sequence"]: commit for commit in history.written}
shown = [item for item in history.shown if {change["kind"] for change in item["changes"]} != {"dictionary"}]
untold = [item["sequence"] for item in shown if item["sequence"] not in written]
if len(untold) > 1:
    fail(f"nobody has written {untold}")
missing = set(written) - {item["sequence"] for item in shown}
if missing:
    fail(f"tail -f has not shown {sorted(missing)}")
for item in shown:
    commit = written.get(item["sequence"])
    changes = [
        [change["keyspace"], change["key"]["integer"], change["value"] and change["value"]["text"]]
        for change in item["changes"] if change["kind"] in ("put", "tombstone")]
    if commit and changes != commit.get("changes", []):
        fail(f"tail -f shows {item}, written was {commit}")
if not any("dropped" in commit for commit in history.written):
    fail("nothing was dropped")
removed = len(history.segments) - len(history.segments & {int(name[:10]) for name in files(".segment")})
if removed < 10 or not checkpoints:
    fail(f"{removed} segments have been removed, and there are the checkpoints {sorted(checkpoints)}")

for problem in problems[:20]:
    print(problem[:3000], file=sys.stderr)
if problems:
    os._exit(1)
print(
    f"kvdump: {Run.count} runs beside a writer, {len(history.shown)} commits shown in "
    f"{len(history.segments)} segments, of which {removed} have been removed", file=sys.stderr)
