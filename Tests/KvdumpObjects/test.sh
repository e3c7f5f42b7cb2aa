#!/usr/bin/env bash
# kvdump looks at the objects of a store of Core Data.
#
#     KVDUMP_WRITE_GOLDEN=1 bash Tests/KvdumpObjects/test.sh     writes what is expected anew, to be read in the diff
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }
golden=$PWD/Tests/KvdumpObjects/objects.txt

swift build --product storewriter >&2
swift build --product kvdump >&2
products=$(swift build --show-bin-path)
kvdump=$products/kvdump
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
source Tests/Kvdump/checks.sh
store=$temporary/store
"$products/storewriter" "$store"
cp -r "$store" "$temporary/before"
uuid=$("$kvdump" schema "$store" | sed -n 's/^uuid  //p')

# show ARGUMENT…: a command in the directory of the store, and what it prints.
show() {
  printf '$ kvdump %s\n' "$*"
  (cd "$temporary" && "$kvdump" "$@") | sed "s/$uuid/UUID/g"
  echo
}

{
  show schema store
  show schema store --format jsonl
  for entity in Animal Person; do show objects store --entity "$entity"; done
  for format in jsonl csv; do show objects store --format "$format"; done
  show objects store --entity Animal --limit 2 --format json
  show objects store --entity Animal --where 'owner.name == "Ann"'
  show objects store --entity Person --where 'ANY pets.name BEGINSWITH "R"' --format csv
  show object store Person/p1
  show object store Person/p1 --limit 1 --format json
  show object store Dog/p5
} >"$temporary/objects"
if [[ -n ${KVDUMP_WRITE_GOLDEN:-} ]]; then
  cp "$temporary/objects" "$golden"
else
  diff -u "$golden" "$temporary/objects" || fail "kvdump prints something else than Tests/KvdumpObjects/objects.txt"
fi

expect 0 object "$store" "x-coredata://$uuid/Person/p1"; silent
expect 1 object "$store" Person/p99; says 'kvdump: there is no object Person/p99'; prints ''
expect 2 object "$store" Persn/p1; says 'there is no entity "Persn"; there is "Animal", "Cat", "Dog", "Person", "Sample"'
expect 2 object "$store" "x-coredata://another/Person/p1"; says 'is an object of another store'
expect 2 object "$store" p1; says 'p1 is no object'
expect 2 objects "$store" --entity Persn; says 'there is no entity "Persn"'
expect 2 objects Tests/Fixtures/everything; says 'there are no Core Data objects in Tests/Fixtures/everything'
expect 2 schema "$temporary/nowhere"; says 'kvdump: not found'
expect 2 objects "$store" --entity Person --where 'nme == "Ann"'; says "'nme' for Person meets no attribute or relationship"
expect 2 objects "$store" --entity Person --where 'pets.name == "Rex"'; says "is several values where one is needed"
expect 64 objects "$store" --entity Person --where 'name =='; says 'the end stands where a value is expected'
expect 64 objects "$store" --where 'name == "Ann"'; says '--where needs --entity'
expect 64 objects "$store" --limit -1
expect 0 objects "$store" --entity Sample --where FALSEPREDICATE; prints ''
diff -r "$temporary/before" "$store" || fail "looking changed the store"

# The rows of objects are changed with --force only.
refusal='has rows of Core Data objects, which depend on other rows; --force changes it nevertheless'
expect 2 put "$store" "table 7" 1 x; says "table 7 $refusal"
expect 2 delete "$store" "table 7" 1; says "table 7 $refusal"
expect 2 drop "$store" "table 0"; says "table 0 $refusal"
expect 2 drop "$store" entries; says "entries $refusal"
diff <("$kvdump" tail "$temporary/before") <("$kvdump" tail "$store") || fail "a change that was refused was made"
expect 0 delete "$store" "table 7" 1 --force; silent
expect 1 verify "$store"
grep -q 'Person 1, which does not exist' "$temporary/out" || fail "verify does not miss the object"

echo "kvdump objects: $checks checks hold" >&2
