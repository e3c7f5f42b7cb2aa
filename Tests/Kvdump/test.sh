#!/usr/bin/env bash
# kvdump from outside: what it prints where, and how it exits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

swift build --product kvdump >&2
kvdump=$(swift build --show-bin-path)/kvdump
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
store=$temporary/store
cp -r Tests/Fixtures/everything "$store"
checks=0

fail() {
  echo "$*" >&2
  exit 1
}

# expect STATUS ARGUMENT…: leaves what was printed in $temporary/out and $temporary/err.
expect() {
  local expected=$1 status=0
  shift
  "$kvdump" "$@" >"$temporary/out" 2>"$temporary/err" || status=$?
  [[ $status == "$expected" ]] || fail "kvdump $*: exit status $status instead of $expected: $(cat "$temporary/err")"
  checks=$((checks + 1))
}

prints() {
  [[ $(cat "$temporary/out") == "$1" ]] || fail "printed $(cat "$temporary/out") instead of $1"
  checks=$((checks + 1))
}

says() {
  grep -qF -- "$1" "$temporary/err" || fail "did not say \"$1\" but: $(cat "$temporary/err")"
  checks=$((checks + 1))
}

silent() {
  [[ ! -s $temporary/err ]] || fail "said: $(cat "$temporary/err")"
}

# Fine.
expect 0 "$store"; silent
grep -q '^uuid        21436587-a9cb-ed0f-f0de-bc9a78563412$' "$temporary/out" || fail "info lacks the UUID"
expect 0 info "$store" --format jsonl; silent
[[ $(wc -l <"$temporary/out") == 1 ]] || fail "info as jsonl is more than a line"
expect 0 get "$store" references after; silent; prints '"second epoch"'
expect 0 get "$store" references after --raw; prints 'second epoch'
expect 0 get "$store" references after --format json
prints '{"schema":"kvdump.row","schemaVersion":1,"keyspace":"references","key":{"text":"after"},"value":{"text":"second epoch"},"version":1,"revision":1000000001}'
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
expect 0 --help
for command in info get scan verify; do
  expect 0 "$command" --help
  grep -q 'Example' "$temporary/out" || fail "kvdump $command --help has no example"
done

# Nothing has changed.
diff -r Tests/Fixtures/everything "$store" || fail "looking changed the store"

# Readers that go away, and outputs that are full.
for format in text json jsonl; do
  "$kvdump" scan "$store" heap --format "$format" 2>"$temporary/err" | head -c 100 >/dev/null; silent
done
if [[ -e /dev/full ]]; then
  status=0
  "$kvdump" scan "$store" references >/dev/full 2>"$temporary/err" || status=$?
  [[ $status == 2 ]] || fail "a full disk: exit status $status"
  says "kvdump: standard output cannot be written"
fi

# Control-C while nobody reads: before, during and after the write that fills the pipe.
"${PYTHON:-python3}" - "$kvdump" "$store" <<'END' || fail "Control-C did not end a scan"
import signal, subprocess, sys
for length in [1, 512, 4096, 8192] * 5:
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
expect 2 info "$temporary/damaged"; says 'kvdump: corrupted'

# 2: cannot be opened or read.
expect 2 info "$temporary/nowhere"; says 'kvdump: not found'; prints ''
expect 2 verify "$temporary/nowhere"; says 'kvdump: '
mkdir "$temporary/folder"; touch "$temporary/folder/file"
expect 2 "$temporary/folder"; says 'kvdump: not a store'
expect 2 verify "$temporary/folder"; says 'kvdump: not a store'
expect 2 scan "$store" nothing; says 'there is no keyspace "nothing"'
expect 2 scan "$store" heap --from 3; says 'not ordered'
cp -r "$store" "$temporary/newer"
printf '\002' | dd of="$temporary/newer/MANIFEST" bs=1 seek=8 conv=notrunc status=none
expect 2 info "$temporary/newer"; says 'newer'
expect 2 verify "$temporary/newer"; says 'newer'

# 64: wrong arguments.
expect 64
expect 64 get "$store"
expect 64 get "$store" references '(1'; says 'the tuple has no closing parenthesis'
expect 64 scan "$store" references --limit -1
expect 64 scan "$store" references --format xml
expect 64 get "$store" references after --raw --format json

echo "kvdump: $checks checks hold" >&2
