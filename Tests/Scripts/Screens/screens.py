"""Runs what KVDUMP-SESSION.md and KVDUMP.md in Documentation show. The argument is a directory with a `demo-store` in
it."""

import difflib
import os
import re
import shutil
import subprocess
import sys

WORK = sys.argv[1]
ENVIRONMENT = dict(os.environ, COLUMNS="100", NO_COLOR="1", LC_ALL="C.UTF-8")
failures = 0


def blocks(text):
    """What stands between fences, with the place in the text."""
    return [(match.start(1), match.end(1), match.group(1)) for match in re.finditer(r"^```\w*\n(.*?)^```$", text, re.M | re.S)]


def run(command, given=None):
    done = subprocess.run(
        ["bash", "-c", command], cwd=WORK, env=ENVIRONMENT, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout


def shape(text):
    """Without what differs from run to run: identities, numbers and how wide they make a column."""
    text = re.sub(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID", text)
    # Of the last commit of a segment salvage cannot tell the number, and a dictionary may come after it or be late.
    text = re.sub(r" of commit \d+", "", text)
    text = re.sub(r"\d[\d,]*", "N", text)
    return [re.sub(r"  +", "  ", line).strip() for line in text.splitlines()]


def compare(name, shown, printed):
    global failures
    if shown == printed:
        return
    failures += 1
    print("\n".join(difflib.unified_diff(shown, printed, "as shown", "as printed", lineterm="")), file=sys.stderr)
    print(f"{name} is not what is shown", file=sys.stderr)


def session(name, text):
    """Commands and what they print, in one block. Returns the block as it is now, and how many commands there were."""
    result = []
    count = 0
    for part in re.split(r"^(?=\$ )", text, flags=re.M):
        command, _, shown = part.partition("\n")
        if not command.startswith("$ "):
            result.append(part)
            continue
        tools = re.findall(r"(?:^|[|;] |&& )([\w.]+)", command[2:])
        if missing := [tool for tool in tools if not shutil.which(tool)]:
            print(f"{name}: no {missing[0]} here, left out: {command}", file=sys.stderr)
            result.append(part)
            continue
        printed = run(command[2:])
        compare(f"{name}: {command}", shape(shown.rstrip("\n")), shape(printed))
        gap = "\n" if shown.endswith("\n\n") else ""
        result.append(f"{command}\n{printed}{gap}")
        count += 1
    return "".join(result), count


def round_trip(name, text, arguments):
    """A dump that is shown comes out again as it went in."""
    shutil.rmtree(os.path.join(WORK, "orders.cairn"), ignore_errors=True)
    run("kvdump load -o orders.cairn", given=text)
    compare(name, text.splitlines(), run(f"kvdump dump orders.cairn {arguments}").splitlines())


with open("Documentation/KVDUMP-SESSION.md", encoding="utf-8") as file:
    page = file.read()
commands = 0
for start, end, block in reversed(blocks(page)):
    if block.startswith("$ kvdump"):
        now, count = session("Documentation/KVDUMP-SESSION.md", block)
        commands += count
        page = page[:start] + now + page[end:]
if os.environ.get("SCREENS_WRITE"):
    with open("Documentation/KVDUMP-SESSION.md", "w", encoding="utf-8") as file:
        file.write(page)
    sys.exit(0)

with open("Documentation/KVDUMP.md", encoding="utf-8") as file:
    dumps = [block for _, _, block in blocks(file.read())]
for block in dumps:
    if block.startswith("VERSION="):
        round_trip("Documentation/KVDUMP.md, Berkeley DB's format", block, "")
    elif block.startswith('{"schema":"kvdump.dump"'):
        round_trip("Documentation/KVDUMP.md, JSON lines", block, "--format jsonl")
    else:
        failures += 1
        print(f"nobody looks at this block of Documentation/KVDUMP.md:\n{block}", file=sys.stderr)
if commands < 8:
    failures += 1
    print(f"only {commands} commands were found in Documentation/KVDUMP-SESSION.md", file=sys.stderr)
if failures:
    sys.exit(1)
print(f"{commands} commands and {len(dumps)} dumps are as they are shown", file=sys.stderr)
