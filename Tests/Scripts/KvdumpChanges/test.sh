#!/usr/bin/env bash
# What changes a store: put, delete, drop and rollback; and backup and restore, which do not.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
cd "$root"

need_products kvdump
kvdump=$products/kvdump
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
store=$temporary/store
cp -r Tests/Data/Fixtures/everything "$store"
source Tests/Scripts/Kvdump/checks.sh

# sound PATH: whether a store is.
sound() {
  expect 0 verify "$1"
}

# A backup has all rows with their versions and sequences, and the store is as it was.
expect 0 backup "$store" -o "$temporary/backup"; silent
grep -qE '^backed up into .* up to sequence [0-9]+: [0-9,]+ bytes linked, [0-9,]+ bytes copied$' "$temporary/out" \
  || fail "backup does not say what it has copied"
expect 0 diff --exact "$store" "$temporary/backup"; prints ''
diff -r Tests/Data/Fixtures/everything "$store" || fail "a backup changed the store"
sound "$temporary/backup"
expect 0 info "$temporary/backup"
grep -q '^backup ' "$temporary/out" || fail "info does not say that a store is a backup"
expect 2 put "$temporary/backup" references new hello; says 'is a backup'; says 'Store.restore'
expect 0 backup "$store" -o "$temporary/backup" --format json
grep -q '"schema": "kvdump.backup"' "$temporary/out" || fail "backup has another schema"
expect 0 backup "$store" -o "$temporary/copied" --copy
if grep -q 'linked' "$temporary/out"; then fail "backup --copy has linked files"; fi
expect 5 backup "$temporary/backup" -o "$store"; says 'is a store, not a backup'

# A restored store has the same rows, and is a store of its own.
expect 0 compact "$store" -o "$temporary/copy"; silent
expect 0 restore "$temporary/backup" -o "$temporary/restored"; silent
grep -qE '^restored .* up to sequence [0-9]+: [0-9,]+ records verified' "$temporary/out" || fail "restore says nothing"
expect 0 diff --exact "$store" "$temporary/restored"; prints ''
expect 5 restore "$temporary/backup" -o "$temporary/restored"; says 'is not empty'
expect 0 put "$temporary/restored" references new hello; sound "$temporary/restored"
expect 0 restore "$temporary/restored" -o "$temporary/before" --at 2000000000
expect 0 diff --exact "$store" "$temporary/before"; prints ''
expect 1 restore "$store" -o "$temporary/future" --at 9000000000; says 'commit not found'

# One row.
expect 0 put "$store" references new hello; silent; prints 'put "new" into references: version 1, sequence 2000000001'
expect 0 get "$store" references new --raw; prints 'hello'
expect 0 put "$store" references new '"a\nb"' --format jsonl
prints '{"schema":"kvdump.put","schemaVersion":2,"keyspace":"references","key":{"text":"new"},"version":2,"sequence":3000000001}'
expect 0 get "$store" references new; prints '"a\nb"'
expect 0 put "$store" references new "x'00ff'"
expect 0 get "$store" references new; prints "x'00ff'"
expect 0 put "$store" references new 42
expect 0 get "$store" references new; prints '"42"'
expect 0 put "$store" references new </dev/null
expect 0 get "$store" references new; prints '""'
head -c 300000 /dev/urandom >"$temporary/bytes"
expect 0 put "$store" references new <"$temporary/bytes"
"$kvdump" get "$store" references new --raw | cmp - "$temporary/bytes" || fail "put has written other bytes than it was given"
expect 0 delete "$store" references new; silent
expect 1 delete "$store" references new; says 'kvdump: there is no row "new" in references'; prints ''
expect 2 put "$store" referenecs new hello; says 'there is no keyspace "referenecs"'
expect 2 put "$temporary/nowhere" references new hello; says 'kvdump: not found'
[[ ! -e $temporary/nowhere ]] || fail "put made a store"
expect 2 put "$store" references new '"a'; says 'closing'
sound "$store"

# A keyspace.
expect 0 drop "$store" heap; silent; prints 'dropped heap with 297 rows'
expect 2 drop "$store" heap; says 'there is no keyspace "heap"'
sound "$store"

# Back to an earlier commit.
expect 0 rollback "$store" --to 1000000001; silent
expect 0 diff "$store" Tests/Data/Fixtures/everything; prints ''
expect 2 rollback "$store" --to 1,000,000,001; says 'there is no commit after 1000000001, so there is nothing to roll back'
expect 0 rollback "$store" --to 20 --format jsonl
grep -q '"lastSequence":20,"rows":384,' "$temporary/out" || fail "went back to $(cat "$temporary/out")"
grep -q '"keptAs":\["0000000' "$temporary/out" || fail "rollback does not say what it has kept"
expect 1 get "$store" references after
sound "$store"
expect 0 put "$store" references after again
sound "$store"
expect 1 rollback "$temporary/copy" --to 5; says 'the log was compacted later'
sound "$temporary/copy"
expect 64 rollback "$store"
for sequence in yesterday 1,23 12,34,567 ,123 -1; do expect 64 rollback "$store" --to="$sequence"; done

# What tail prints can be given to rollback: the first commit after an opening has the next multiple of 10^9, plus 1.
cp -r "$store" "$temporary/printed"
expect 0 put "$temporary/printed" references later x; prints 'put "later" into references: version 1, sequence 13000000001'
expect 0 tail "$temporary/printed" -n 2
printed=$(sed -n 's/^commit \([^ ]*\) .*/\1/p' "$temporary/out" | head -n 1)
expect 0 rollback "$temporary/printed" --to "$printed"
expect 0 diff --exact "$store" "$temporary/printed"

# Nobody changes a store that another process writes to, and who that is is said.
"${PYTHON:-python3}" - "$kvdump" "$store" <<'END' || fail "a store that is open for writing was changed"
import fcntl, os, subprocess, sys
kvdump, store = sys.argv[1:]
lock = open(store + "/LOCK", "r+")
fcntl.flock(lock, fcntl.LOCK_EX)
lock.truncate(0)
lock.write("process 4711 on somewhere")
lock.flush()
before = {name: open(store + "/" + name, "rb").read() for name in os.listdir(store)}
for words in [["put", store, "references", "new", "hello"], ["delete", store, "references", "after"],
              ["drop", store, "counters"], ["rollback", store, "--to", "10"]]:
    done = subprocess.run([kvdump] + words, capture_output=True, text=True)
    assert done.returncode == 4 and "kvdump: locked: " in done.stderr and "process 4711" in done.stderr, done
after = {name: open(store + "/" + name, "rb").read() for name in os.listdir(store)}
assert before == after
assert subprocess.run([kvdump, "backup", store, "-o", store + "-copy"], capture_output=True).returncode == 0
END

echo "kvdump changes: $checks checks hold" >&2
