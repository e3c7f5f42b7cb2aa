#!/usr/bin/env bash
# kvdump from outside: what it prints where, and how it exits.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
cd "$root"

need_python_lz4
need_products kvdump
kvdump=$products/kvdump
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
store=$temporary/store
cp -r Tests/Data/Fixtures/everything "$store"
source Tests/Scripts/Kvdump/checks.sh

# Fine.
expect 0 "$store"; silent
grep -q '^uuid        21436587-a9cb-ed0f-f0de-bc9a78563412$' "$temporary/out" || fail "info lacks the UUID"
expect 0 info "$store" --format jsonl; silent
[[ $(wc -l <"$temporary/out") == 1 ]] || fail "info as jsonl is more than a line"
expect 0 get "$store" references after; silent; prints '"second epoch"'
expect 0 get "$store" references after --raw; prints 'second epoch'
expect 0 get "$store" references after --format json
prints '{"schema":"kvdump.row","schemaVersion":2,"keyspace":"references","key":{"text":"after"},"value":{"text":"second epoch"},"version":1,"sequence":1000000001}'
numbers=$temporary/numbers
cp -r "$store" "$numbers"
expect 0 put "$numbers" references "d'-1.5'" text
expect 0 get "$numbers" references "d'-1.50'"; prints '"text"'
expect 0 scan "$numbers" references --from "d'-2'" --to "d'0'" --keys-only; prints "d'-1.5'"
expect 0 dump "$numbers" --format jsonl; cp "$temporary/out" "$temporary/numbers.jsonl"
grep -qF '"key":{"double":"-1.5"}' "$temporary/numbers.jsonl" || fail "a number is no key"
expect 0 load -o "$temporary/loaded" "$temporary/numbers.jsonl"
expect 0 diff --exact "$numbers" "$temporary/loaded"
expect 0 get "$store" references '(1, "a", x'"'00'"')'; prints '"text"'
expect 0 get -- "$store" references -1
expect 0 scan "$store" references --prefix a --keys-only; prints $'"a"\n"a\\0b"\n"ab"\n"after"'
expect 0 scan "$store" references --from a --to ab --reverse --keys-only; prints $'"a\\0b"\n"a"'
expect 0 scan "$store" references --from -257 --limit 2 --keys-only; prints $'-257\n-256'
expect 0 scan "$store" references --limit 0; prints ''
expect 0 scan "$store" references
if LC_ALL=C grep -q $'\x1b\|\xe2\x80\xae\|\xc2\x9b' "$temporary/out"; then fail "a control character came through"; fi
expect 0 verify "$store"; silent
grep -q '^sound: ' "$temporary/out" || fail "the store isn't sound"
expect 0 --version; silent
grep -qx 'kvdump [0-9.]*, store format 1.0' "$temporary/out" || fail "the version is $(cat "$temporary/out")"
expect 0 --help
importing="import migrate"
[[ $(uname) != Darwin ]] || importing=
for command in info stats keyspaces segments records hex get history scan verify diff tail dump load backup restore \
  compact salvage schema objects object $importing put delete drop rollback completions; do
  expect 0 "$command" --help
  if grep -q "$((2 ** 63 - 1))" "$temporary/out"; then fail "kvdump $command --help has a limit that is none"; fi
  COLUMNS=1000 "$kvdump" "$command" --help | sed '/^USAGE:/,$d' | grep -E '^(Examples?:| ).{80}' \
    && fail "kvdump $command --help has lines of its own that are broken in 80 columns"
  grep -q 'Example' "$temporary/out" || fail "kvdump $command --help has no example"
  grep -q "^\.Ss $command\b\|^\.It Nm .*\b$command\b" Documentation/kvdump.1 || fail "the man page has no $command"
  grep -q "\b$command\b" Documentation/KVDUMP.md || fail "KVDUMP.md has no $command"
done
for shell in bash zsh fish; do
  expect 0 completions "$shell"
  grep -q salvage "$temporary/out" || fail "the completions for $shell lack salvage"
done
"$kvdump" completions bash | bash -n || fail "the completions for bash are no script"

# Every command that takes --format prints JSON in which the schema and its version come first.
for command in info stats keyspaces segments records "hex $store MANIFEST" "get $store references after" \
  "history $store references after" "scan $store references" verify "diff $store $store" tail dump; do
  read -ra words <<<"$command"
  [[ ${#words[@]} -gt 1 ]] || words+=("$store")
  for format in json jsonl; do
    expect 0 "${words[@]}" --format "$format"
    "${PYTHON:-python3}" - "$format" "$temporary/out" <<'END' || fail "kvdump $command --format $format is not as it should be"
import json, sys
text = open(sys.argv[2], encoding="utf-8").read()
documents = [json.loads(text)] if sys.argv[1] == "json" else [json.loads(line) for line in text.splitlines()]
first = documents[0]
assert list(first)[:2] == ["schema", "schemaVersion"] and first["schema"].startswith("kvdump."), first
assert len(documents) == 1 or "end" in documents[-1], documents[-1]
END
  done
done

# Nothing has changed.
diff -r Tests/Data/Fixtures/everything "$store" || fail "looking changed the store"

# tail shows the last commits that have changes of a keyspace, and counts what it shows.
expect 0 tail "$store" -n 9223372036854775807 --format jsonl; silent
grep -qx '{"end":true,"count":21}' "$temporary/out" || fail "printed $(cat "$temporary/out")"
expect 0 tail "$store" -n 9223372036854775807 --keyspace counters --format jsonl
head -n 1 "$temporary/out" >"$temporary/head"
sed '1d;$d' "$temporary/out" >"$temporary/all"
for count in 0 1 3 9223372036854775807; do
  cat "$temporary/head" <(tail -n "$count" "$temporary/all") >"$temporary/wanted"
  wanted=$(($(wc -l <"$temporary/wanted") - 1))
  expect 0 tail "$store" -n "$count" --keyspace counters --format jsonl; silent
  sed '$d' "$temporary/out" | diff "$temporary/wanted" - || fail "tail -n $count --keyspace showed other commits"
  [[ $(tail -n 1 "$temporary/out") == "{\"end\":true,\"count\":$wanted}" ]] || fail "counted $(tail -n 1 "$temporary/out")"
done
[[ $wanted -gt 3 ]] || fail "counters has only $wanted commits"
expect 0 tail "$store" -n 2 --keyspace nothing --format jsonl
grep -qx '{"end":true,"count":0}' "$temporary/out" || fail "printed $(cat "$temporary/out")"

# --since chooses commits by their own times, wherever they are: the clock was set back before the last but one.
cp -r "$store" "$temporary/times"
expect 0 put "$temporary/times" references new x
"${PYTHON:-python3}" - "$temporary/times" <<'END'
import struct, sys
sys.path.insert(0, "Tests/Scripts/FormatReader")
import cairn_reader
# The last three commits: in November 2023, a day earlier, and now.
path = sys.argv[1] + "/0000000004.segment"
data = bytearray(open(path, "rb").read())
entry = next(entry for entry in cairn_reader.Manifest(open(sys.argv[1] + "/MANIFEST", "rb").read()).segments if entry.number == 4)
segment = cairn_reader.Segment(bytes(data), entry)
data[128 + 24:128 + 32] = struct.pack("<Q", (1_700_000_000 - 86_400) * 10**9)
register = segment.checksum(128, bytes(data[136:176]))
position = 176
for record in segment.frame(128, len(data)).records:
    register = cairn_reader.crc_register(register, bytes(data[position:position + 4]))
    position = record.end
data[132:136] = struct.pack("<I", register ^ 0xFFFFFFFF)
open(path, "wb").write(data)
END
# sequences COMMAND ARGUMENT…: of the commits whose changes are shown.
sequences() {
  expect 0 "$1" "$temporary/times" --format jsonl "${@:2}"; silent
  grep -o '"sequence":[0-9]*' "$temporary/out" | sed 's/.*://' | uniq | tr '\n' ' '
}
early=$(seq 1 20 | tr '\n' ' ')
for command in tail records; do
  for since in 1h 2d 90m "$((10 ** 9 + 2))" 2,000,000,000 2024-01-01T00:00Z; do
    [[ $(sequences "$command" --since "$since") == '2000000001 ' ]] || fail "$command --since $since showed $(sequences "$command" --since "$since")"
  done
  for since in 2023-11-14 '2023-11-14 22:13:20.000 UTC' 2023-11-14T23:13:20+01:00; do
    [[ $(sequences "$command" --since "$since") == "${early}2000000001 " ]] || fail "$command --since $since showed $(sequences "$command" --since "$since")"
  done
  [[ $(sequences "$command" --since 2023-11-13) == "${early}1000000001 2000000001 " ]] || fail "$command --since misses a commit"
  [[ $(sequences "$command" --since 19) == '19 20 1000000001 2000000001 ' ]] || fail "$command --since 19 showed other commits"
  for since in '' yesterday 1y 2023-02-29 2023-11-14T25:00Z 1,23; do expect 64 "$command" "$store" --since "$since"; done
done
[[ $(sequences tail --since 2023-11-14 -n 2) == '20 2000000001 ' ]] || fail "tail --since -n showed other commits"
[[ $(sequences tail --since 2023-11-14 -n 1 --keyspace counters) == '20 ' ]] || fail "tail --since --keyspace showed other commits"
expect 0 records "$temporary/times" --since 1h
grep -q '^ *128  commit 2000000001, ' "$temporary/out" || fail "records --since does not show the commit"

# What has no time is counted: records that compaction has moved, and records of damaged frames.
expect 0 records Tests/Data/Fixtures/retained --since 2023-01-01 --format jsonl
says 'kvdump: left out 205 records without a time: compaction has moved them, or their frames are damaged'
grep -q '"withoutTime":205,"isSound":true}$' "$temporary/out" || fail "printed $(tail -n 1 "$temporary/out")"
expect 0 tail Tests/Data/Fixtures/retained --since 2023-01-01; says 'kvdump: left out 205 records that compaction has moved'
expect 0 tail Tests/Data/Fixtures/retained --since 14; says 'that compaction has moved'
expect 0 tail Tests/Data/Fixtures/retained --since 15; silent

# tail -f shows commits while another process makes them, and Control-C ends it.
"${PYTHON:-python3}" - "$kvdump" "$store" "$temporary" <<'END' || fail "tail -f did not follow"
import shutil, signal, subprocess, sys
kvdump, store, temporary = sys.argv[1:]
followed = temporary + "/followed"
# What a writer does, a frame at a time: the log grows behind the follower's back.
shutil.copytree(store, followed)
segment = followed + "/0000000004.segment"
whole = open(segment, "rb").read()
open(segment, "wb").write(whole[:128])
tail = subprocess.Popen([kvdump, "tail", "-f", followed, "-n", "1", "--format", "jsonl"], stdout=subprocess.PIPE, text=True,
                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
lines = [tail.stdout.readline(), tail.stdout.readline()]
assert '"sequence":20,' in lines[1], lines
open(segment, "wb").write(whole[:224])
line = tail.stdout.readline()
assert '"sequence":1000000001,' in line and '"second epoch"' in line, line
tail.send_signal(signal.SIGINT)
assert tail.wait(timeout=30) == -signal.SIGINT
END

# Control-C while a dump is awaited leaves no half of a store.
"${PYTHON:-python3}" - "$kvdump" "$temporary/half" <<'END' || fail "Control-C left something of a new store"
import os, signal, subprocess, sys
load = subprocess.Popen([sys.argv[1], "load", "-o", sys.argv[2]], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
load.stdin.write(b"VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n 2101\n 41\n")
load.stdin.flush()
while not os.path.exists(sys.argv[2]):
    if load.poll() is not None: sys.exit(1)
load.send_signal(signal.SIGINT)
assert load.wait(timeout=30) == -signal.SIGINT
assert not os.path.exists(sys.argv[2])
END

# Readers that go away, and outputs that are full.
for format in text json jsonl; do
  for command in "scan $store heap" "records $store" "dump $store heap" "hex $store 1" "stats $store"; do
    read -ra words <<<"$command"
    { "$kvdump" "${words[@]}" --format "$format" 2>"$temporary/err" || true; } | head -c 100 >/dev/null
    grep -v 'not in the dump' "$temporary/err" && fail "a closed pipe is a problem to $command"
  done
done
for command in --help "scan --help" "completions bash"; do
  read -ra words <<<"$command"
  "${PYTHON:-python3}" - "$kvdump" "${words[@]}" <<'END' || fail "a closed pipe is a problem to $command"
import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
done = subprocess.run(sys.argv[1:], stdout=writing, stderr=subprocess.PIPE)
assert done.returncode == 0 and not done.stderr, done
END
done
# closed STATUS ARGUMENT…: the exit status if nobody reads the output.
closed() {
  "${PYTHON:-python3}" - "$@" <<'END' || fail "a closed pipe gives kvdump ${*:3} another status than $1"
import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
done = subprocess.run(sys.argv[2:], stdout=writing, stderr=subprocess.PIPE)
assert done.returncode == int(sys.argv[1]), done
END
}
cp -r "$store" "$temporary/flipped"
printf '\377' | dd of="$temporary/flipped/0000000001.segment" bs=1 seek=1000 conv=notrunc status=none
closed 141 "$kvdump" verify "$store"
closed 0 "$kvdump" verify Tests/Data/Fixtures/example
closed 1 "$kvdump" verify "$temporary/flipped"
closed 0 "$kvdump" diff "$store" "$store" --format jsonl
closed 1 "$kvdump" diff "$store" Tests/Data/Fixtures/example
closed 141 "$kvdump" records "$store" --format jsonl
closed 0 "$kvdump" segments "$store"
closed 1 "$kvdump" segments "$temporary/flipped"
closed 1 "$kvdump" salvage "$temporary/flipped" -o "$temporary/unseen"
closed 0 "$kvdump" scan "$store" heap
if "$kvdump" verify "$temporary/flipped" | head -n 1 && echo sound; then fail "a damaged store is called sound"; fi
if [[ -e /dev/full ]]; then
  status=0
  for command in "scan $store references" "records $store" "dump $store references" "verify $store"; do
    status=0
    read -ra words <<<"$command"
    "$kvdump" "${words[@]}" >/dev/full 2>"$temporary/err" || status=$?
    [[ $status == 5 ]] || fail "a full disk: exit status $status"
    says "kvdump: standard output cannot be written"
  done
fi

# Control-C while nobody reads: before, during and after the write that fills the pipe.
"${PYTHON:-python3}" - "$kvdump" "$store" <<'END' || fail "Control-C did not end a scan"
import signal, subprocess, sys
for length in [1, 512, 4096, 8192] * 2:
    scan = subprocess.Popen([sys.argv[1], "scan", sys.argv[2], "heap"], stdout=subprocess.PIPE, bufsize=0,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    scan.stdout.read(length)
    scan.send_signal(signal.SIGINT)
    if scan.wait(timeout=30) != -signal.SIGINT:
        sys.exit(1)
END

# 1: no such row, or damage.
expect 1 get "$store" references nobody; says 'kvdump: there is no row "nobody" in references'; prints ''
cp -r "$store" "$temporary/damaged"
printf '\377' | dd of="$temporary/damaged/0000000001.segment" bs=1 seek=1000 conv=notrunc status=none
expect 1 verify "$temporary/damaged"
grep -q '^damage: 0000000001.segment at ' "$temporary/out" || fail "verify does not name the damage"
expect 1 verify "$temporary/damaged" --format json
expect 0 verify "$temporary/damaged" --depth quick
expect 1 verify "$temporary/damaged" --depth checksums
expect 1 segments "$temporary/damaged"; says 'the store does not open: corrupted'
expect 1 records "$temporary/damaged"
expect 3 info "$temporary/damaged"; says 'kvdump: corrupted'
grep -q '^uuid  ' "$temporary/out" || fail "info shows nothing of a damaged store"
expect 1 diff "$store" Tests/Data/Fixtures/example

# Commits that cannot be shown are told.
expect 0 tail Tests/Data/Damaged/flipped-record
grep -qx 'commits after 0 and before 2000000002 were compacted, or are damaged' "$temporary/out" \
  || fail "tail does not tell of damage"
grep -q '^commit 2000000002 ' "$temporary/out" || fail "tail does not go on after damage"

# 2: cannot be opened or read.
expect 2 info "$temporary/nowhere"; says 'kvdump: not found'; prints ''
expect 2 verify "$temporary/nowhere"; says 'kvdump: '
mkdir "$temporary/folder"; touch "$temporary/folder/file"
expect 2 "$temporary/folder"; says 'kvdump: not a store'
expect 2 verify "$temporary/folder"; says 'kvdump: not a store'
expect 2 scan "$store" nothing; says 'there is no keyspace "nothing"'
expect 2 scan "$store" heap --from 3 --format json; says 'not ordered'; prints ''
cp -r "$store" "$temporary/newer"
printf '\002' | dd of="$temporary/newer/MANIFEST" bs=1 seek=8 conv=notrunc status=none
expect 2 info "$temporary/newer"; says 'newer'
expect 2 verify "$temporary/newer"; says 'newer'

touch "$temporary/newer/LOCK"; cp Tests/Data/Fixtures/everything/MANIFEST "$temporary/newer"
expect 65 hex "$temporary/newer" LOCK --format json; says 'LOCK is not a manifest'; prints ''
expect 2 hex "$store" nothing; says 'there is no nothing'
expect 2 hex "$store" 99; says 'there is no 0000000099.segment'
expect 2 records "$store" --segment 99; says 'there is no segment 99; the segments are 1, 2, 4, 5'
expect 2 diff "$store" "$temporary/nowhere"; says 'not found'
expect 5 load -o "$store" Tests/Scripts/Kvdump/test.sh; says 'kvdump: already exists: '
expect 5 backup "$store" -o "$temporary/folder"; says 'kvdump: already exists: '
expect 5 backup "$store" -o "$temporary/folder/file"; says 'kvdump: already exists: '
expect 65 load -o "$temporary/new" Tests/Scripts/Kvdump/test.sh; says 'line 1: a header must begin with VERSION='
expect 2 load -o "$temporary/new" "$temporary/nowhere"; says 'cannot be read'
expect 2 load -o "$temporary/no/where/new" /dev/null; says 'not found'
expect 65 load -o "$temporary/new" /dev/null; says 'the input is empty'
expect 2 compact "$store" -o "$temporary/no/where/new"; says 'not found'
[[ ! -e $temporary/new ]] || fail "a failed load left something"
expect 2 dump "$store" nosuch; says 'there is no keyspace "nosuch"'
expect 64 dump "$store" --unnamed; says 'only one keyspace can be dumped without a name'

# 64: wrong arguments.
expect 64
expect 64 get "$store"
expect 64 scna "$store"; says 'kvdump: scna is neither a command nor a store; did you mean scan?'
expect 64 nowhere; says 'kvdump: nowhere is neither a command nor a store; kvdump --help lists the commands'
expect 64 get "$store" references '(1'; says 'the tuple has no closing parenthesis'
expect 64 scan "$store" references --limit -1
expect 64 scan "$store" references --format xml
expect 64 get "$store" references after --raw --format json
expect 64 dump "$store" --format jsonl --profile lmdb
expect 64 load "$temporary/nowhere"
expect 64 tail -f "$store" --format json
expect 64 completions tcsh

echo "kvdump: $checks checks hold" >&2
