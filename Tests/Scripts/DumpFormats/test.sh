#!/usr/bin/env bash
# Dumps go through Berkeley DB's and LMDB's own tools and come back: both ways, with every type of reference, binary
# keys, empty values and values of several MiB.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
need_berkeley_db
need_lmdb
cd "$root"

need_products kvdump
kvdump=$products/kvdump
python=${PYTHON:-python3}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
compared=0

fail() {
  echo "$*" >&2
  exit 1
}

# same STORE STORE: whether both have the same rows. That a keyspace is unordered has no place in these formats.
same() {
  "$kvdump" diff "$1" "$2" --keys-only >"$temporary/differences" || true
  if grep -vE '^[-+] keyspace [^:]*: (un)?ordered, keeps 1$' "$temporary/differences" >&2; then
    fail "$1 and $2 differ"
  fi
  compared=$((compared + 1))
}

# A store with rows of all sorts: what the fixture has, binary keys, empty values, large values.
"$python" - >"$temporary/rows.jsonl" <<'END'
import json, random
random.seed(5)
def line(**members): print(json.dumps(members))
line(schema="kvdump.dump", schemaVersion=2, lastSequence=900)
line(keyspace=1, name="large", order="ordered", retention=1, definedAt=1)
for number, size in enumerate([0, 1, 1999, 2001, 4096, 65536, 3 << 20, 5 << 20]):
    value = random.randbytes(size)
    line(**{"in": 1, "key": {"tuple": [{"integer": number}, {"hex": random.randbytes(20).hex()}]}, "value": {"hex": value.hex()},
            "version": number + 1, "sequence": 100 * number + 2})
line(keyspace=5, name="Z\u00fcrich \\ slash", order="ordered", retention=1, definedAt=3)
for number in range(300):
    line(**{"in": 5, "key": {"hex": random.randbytes(1 + number % 40).hex() + "%04x" % number},
            "value": {"text": "value %d" % number} if number % 7 else {"hex": ""}, "version": 1, "sequence": 5})
line(end=True)
END
"$kvdump" load -o "$temporary/rows" "$temporary/rows.jsonl" >/dev/null

for name in "$temporary/rows" Tests/Data/Fixtures/everything; do
  own=$temporary/$(basename "$name")
  "$kvdump" dump "$name" 2>/dev/null >"$own.bdb"
  tail -n 1 "$own.bdb" | grep -qx DATA=END || fail "the dump has no end"

  db5.3_load -f "$own.bdb" "$own.db"
  db5.3_dump "$own.db" >"$own.from-bdb"
  "$kvdump" load -o "$own.back-from-bdb" "$own.from-bdb" >/dev/null
  same "$name" "$own.back-from-bdb"
  db5.3_dump -p "$own.db" | "$kvdump" load -o "$own.back-from-print" >/dev/null
  same "$name" "$own.back-from-print"

  "$kvdump" dump "$name" --profile lmdb 2>/dev/null | mdb_load -n "$own.mdb"
  mdb_dump -a -n "$own.mdb" >"$own.from-lmdb"
  "$kvdump" load -o "$own.back-from-lmdb" "$own.from-lmdb" >/dev/null
  same "$name" "$own.back-from-lmdb"

  # The data, apart from what the headers say, is what the tools print themselves.
  diff <(grep '^ ' "$own.bdb" | LC_ALL=C sort) <(grep '^ ' "$own.from-bdb" | LC_ALL=C sort) >/dev/null \
    || fail "db_dump prints other data"
  diff <(grep '^ ' "$own.bdb" | LC_ALL=C sort) <(grep '^ ' "$own.from-lmdb" | LC_ALL=C sort) >/dev/null \
    || fail "mdb_dump prints other data"

  # JSON lines bring back versions and sequences.
  "$kvdump" dump "$name" --format jsonl | "$kvdump" load -o "$own.exact" >/dev/null
  "$kvdump" diff --exact "$name" "$own.exact" >/dev/null || fail "$name did not come back exactly"
  "$kvdump" verify "$own.exact" >/dev/null
  compared=$((compared + 1))
done

# A store of theirs becomes one of ours and goes back.
"$python" -c '
print("VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END")
for number in range(2000): print(" %08x\n %s" % (number * 2654435761 % 2**32, "ab" * (number % 50)))
print("DATA=END")' >"$temporary/theirs"
for tool in "db5.3_load $temporary/theirs.db" "mdb_load -n $temporary/theirs.mdb"; do
  $tool <"$temporary/theirs"
  dump=$(sed 's/_load/_dump/' <<<"$tool")
  $dump | "$kvdump" load -o "$temporary/ours" --keys bytes --keyspace main >/dev/null
  "$kvdump" dump "$temporary/ours" --keys bytes --unnamed >"$temporary/ours.dump"
  diff <(grep '^ ' "$temporary/ours.dump") <($dump | grep '^ ') >/dev/null || fail "${tool%% *}: the data has changed"
  rm -r "$temporary/ours"
  compared=$((compared + 1))
done

# Never DATA=END after an error, and the exit status tells.
cp -r Tests/Data/Fixtures/everything "$temporary/damaged"
printf '\377\377\377' | dd of="$temporary/damaged/0000000002.segment" bs=1 seek=700 conv=notrunc status=none
for arguments in "" "--profile lmdb" "--format jsonl"; do
  status=0
  # shellcheck disable=SC2086
  "$kvdump" dump "$temporary/damaged" $arguments >"$temporary/out" 2>/dev/null || status=$?
  [[ $status == 3 ]] || fail "a damaged store: exit status $status"
  ! grep -q 'DATA=END$\|"end"' <(tail -n 1 "$temporary/out") || fail "a dump that failed looks whole"
done
status=0
"$kvdump" dump "$temporary/rows" --keys text >"$temporary/out" 2>"$temporary/err" || status=$?
[[ $status == 65 ]] && ! grep -q DATA=END "$temporary/out" || fail "a key that is not text: exit status $status"

# A dump that was cut off is not loaded.
head -c -5 "$temporary/rows.bdb" >"$temporary/cut"
status=0
"$kvdump" load -o "$temporary/cut.cairn" "$temporary/cut" >/dev/null 2>"$temporary/err" || status=$?
[[ $status == 65 && ! -e $temporary/cut.cairn ]] || fail "a dump that was cut off was loaded"

echo "$compared stores came back through other tools" >&2
