#!/usr/bin/env bash
# kvdump prints and imports the objects of a store of Core Data.
#
#     KVDUMP_WRITE_GOLDEN=1 bash Tests/Scripts/KvdumpObjects/test.sh     writes what is expected anew, to be read in the diff
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
cd "$root"
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }
golden=$PWD/Tests/Scripts/KvdumpObjects/objects.txt

need_products storewriter kvdump
kvdump=$products/kvdump
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
source Tests/Scripts/Kvdump/checks.sh
store=$temporary/store
"$products/storewriter" "$store"
cp -r "$store" "$temporary/before"
cp -r "$store" "$temporary/recorded"
"$products/storewriter" "$temporary/recorded" --history
uuid=$("$kvdump" schema "$store" | sed -n 's/^uuid  //p')

# A store that has been migrated from its first model to the second, and a third model.
model() {
  mkdir "$temporary/$1.xcdatamodel"
  printf '<model>%s</model>' "$2" >"$temporary/$1.xcdatamodel/contents"
}
attribute() { printf '<attribute name="%s" optional="YES" attributeType="%s" %s/>' "$1" "$2" "${3-}"; }
relationship() { printf '<relationship name="%s" optional="YES" %s destinationEntity="%s" inverseName="%s" inverseEntity="%s"/>' "$@" "$3"; }
crew() { relationship crew "toMany=\"YES\" $2" Sailor ship; }
sailor() { printf '<entity name="Sailor">%s%s</entity>' "$(attribute name String)" "$(relationship ship 'maxCount="1"' "$1" crew)"; }
# A store over a remote service, and the same with damage: without the origin of Person/p1.
"$kvdump" dump "$store" --format jsonl 2>"$temporary/log" | python3 Tests/Scripts/KvdumpObjects/remote.py >"$temporary/remote.jsonl"
"$kvdump" load -o "$temporary/remote" "$temporary/remote.jsonl" >"$temporary/log"
cp -r "$temporary/remote" "$temporary/orphaned"
"$kvdump" delete "$temporary/orphaned" 'table 4294967294' 1 --force >"$temporary/log"

# The same with rows written again, so that the log has commits of them.
cp -r "$temporary/remote" "$temporary/rewritten"
list=$(printf 'Animal all' | sha256sum | cut -c 1-32)
for row in 'table 0|5' 'table 4294967294|6' "table 4294967293|\"$list\"" "table 4294967293|\"$list/3/00000000\"" 'table 4294967292|5' \
  'table 30|6' "entries|x''"; do
  "$kvdump" get "$temporary/remote" "${row%|*}" "${row#*|}" --raw >"$temporary/row"
  "$kvdump" put "$temporary/rewritten" "${row%|*}" "${row#*|}" --force <"$temporary/row" >"$temporary/log"
done

model First "<entity name=\"Ship\">$(attribute name String)$(attribute size 'Integer 32')$(crew Ship '')</entity>$(sailor Ship)<entity name=\"Port\">$(attribute name String)</entity>"
unique='<uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>'
index='<fetchIndex name="bySize"><fetchIndexElement property="size" type="Binary" order="ascending"/></fetchIndex>'
required='<attribute name="flag" attributeType="String" defaultValueString="NO"/>'
model Second "<entity name=\"Ship\">$(attribute name String)$(attribute size 'Integer 64')$(attribute built Date)$(crew Ship '')</entity>$(sailor Ship)<entity name=\"Port\">$(attribute name String)</entity>"
model Third "<entity name=\"Vessel\" elementID=\"Ship\">$(attribute title String 'elementID="name"')$(attribute size String)$required$(crew Vessel 'ordered="YES"')$unique$index</entity>$(sailor Vessel)"
model Fourth "<entity name=\"Ship\">$(attribute name Date)</entity>"
printf 'name,size\nAda,3\nBob,\n' >"$temporary/ships.csv"
printf 'name\nOslo\n' >"$temporary/ports.csv"
"$kvdump" import "$temporary/navy" "$temporary/ships.csv" --create --model "$temporary/First.xcdatamodel" --entity Ship >"$temporary/log"
"$kvdump" import "$temporary/navy" "$temporary/ports.csv" --model "$temporary/First.xcdatamodel" --entity Port >"$temporary/log"
"$products/storewriter" "$temporary/navy" "$temporary/Second.xcdatamodel"

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
  show objects store --entity Person --where 'ANY pets.name BEGINSWITH "R"' --explain | sed -E 's/, in [0-9.]+ ms/, in TIME/'
  show object store Person/p1
  show object store Person/p1 --limit 1 --format json
  show object store Dog/p5
  # What the rows of the log are. The times differ, and the metadata do not always take the same number of bytes.
  show tail store -n 99 | sed -E 's/  [0-9]{4}-.*/  TIME, SIZE/'
  show tail store --keyspace Dog -n 2 --format jsonl | sed -E 's/"time":.*"changes"/"changes"/'
  show tail store --keyspace entries -n 1 --format jsonl | sed -E 's/"time":.*"changes"/"changes"/'
  show tail store --keyspace 'table 0' -n 9 --format jsonl | sed -E 's/"time":.*"changes"/"changes"/; s/"hex":"[0-9a-f]*"/"hex":"…"/g'
  show schema navy --history | sed -E 's/[0-9]{4}-[0-9-]+ [0-9:.]+ UTC/TIME/'
  show schema navy --history --format jsonl | sed -E 's/"time":"[^"]*"/"time":"TIME"/; s/"uuid":"[^"]*"/"uuid":"UUID"/'
  show migrate navy --model Third.xcdatamodel --dry-run | sed -E 's/least the [0-9.]+ s/least the TIME/'
  show migrate navy --model Third.xcdatamodel --dry-run --format jsonl
  show migrate navy --model Second.xcdatamodel --dry-run
  show history store Person/p1
  show history store Dog 5 --log
  show history store "x-coredata://$uuid/Dog/p5" --format jsonl | sed "s/$uuid/UUID/"
  show history recorded | sed -E 's/[0-9]{4}-[0-9T:.-]+Z?/TIME/; s/process [0-9]+/process N/'
  show history recorded --author ada --limit 1 --format json | sed -E 's/[0-9]{4}-[0-9T:.-]+Z?"/TIME"/; s/"process":"[0-9]+"/"process":"N"/'
  show tail recorded --keyspace 'table 4294967295' -n 1 --format jsonl | sed -E 's/"time":.*"changes":\[/"changes":[/; s/"hex":"[0-9a-f]*"/"hex":"…"/g'
  for part in remote outbox results; do
    show objects remote "--$part"
    show objects remote "--$part" --entity Animal --limit 2 --format jsonl
  done
  for format in text jsonl csv; do show objects remote --entity Animal --format "$format"; done
  show object remote Cat/p6
  show object remote Cat/p6 --format json
  show verify remote
  (show verify orphaned || true)
  show tail rewritten | sed -E 's/  [0-9]{4}-.*/  TIME, SIZE/'
  show tail rewritten --format jsonl \
    | sed -E 's/"time":.*"changes":\[\{/"changes":[{/; s/"hex":"[0-9a-f]*"/"hex":"…"/g; s/,\{"entity":"Animal","relationship".*/…/'
  show records store --keyspace Dog | sed -E 's/^ +[0-9]+ +//; s/created .*//'
  show info store | grep -E '^\$|^core data|^  entity|table [0-9]+$'
  show stats store | grep -E ' rows?$|entries'
  show segments store | sed -n '/records of/,$p' | sed -E 's/ +[0-9,]+$//'
} >"$temporary/objects"
if [[ -n ${KVDUMP_WRITE_GOLDEN:-} ]]; then
  cp "$temporary/objects" "$golden"
else
  diff -u "$golden" "$temporary/objects" || fail "kvdump prints something else than Tests/Scripts/KvdumpObjects/objects.txt"
fi

"$kvdump" info "$store" | grep -q 'at most 16,777,216 bytes each' || fail "segments have another size"
expect 1 migrate "$temporary/navy" --model "$temporary/Fourth.xcdatamodel" --dry-run; silent
prints 'The migration would be refused: Source and destination attribute types of name are incompatible.'
expect 64 migrate "$temporary/navy" --model "$temporary/Fourth.xcdatamodel"; says 'Only the application migrates a store'
expect 2 migrate "$temporary/navy" --model "$temporary/none" --dry-run; says 'there is no model that can be read'
expect 2 migrate "$temporary/nowhere" --model "$temporary/Third.xcdatamodel" --dry-run; says 'there is no store at'
expect 2 schema Tests/Data/Fixtures/everything --history; says 'there are no Core Data objects'
expect 0 object "$store" "x-coredata://$uuid/Person/p1"; silent
expect 1 object "$store" Person/p99; says 'kvdump: there is no object Person/p99'; prints ''
expect 2 object "$store" Persn/p1; says 'there is no entity "Persn"; the entities are "Animal", "Cat", "Dog", "Person", "Sample"'
expect 2 object "$store" "x-coredata://another/Person/p1"; says 'is an object of another store'
expect 64 object "$store" p1; says 'p1 does not name an object'
expect 2 objects "$store" --entity Persn; says 'there is no entity "Persn"'
expect 2 objects Tests/Data/Fixtures/everything; says 'there are no Core Data objects in Tests/Data/Fixtures/everything'
expect 2 schema "$temporary/nowhere"; says 'kvdump: not found'
expect 2 objects "$store" --entity Person --where 'nme == "Ann"'; says "'nme' for Person meets no attribute or relationship"
expect 2 objects "$store" --entity Person --where 'pets.name == "Rex"'; says "is several values where one is needed"
expect 64 objects "$store" --entity Person --where 'name =='; says 'the end stands where a value is expected'
expect 64 objects "$store" --where 'name == "Ann"'; says '--where requires --entity'
expect 64 objects "$store" --explain; says '--explain requires --where'
expect 64 objects "$store" --entity Person --where 'name == "Ann"' --explain --format jsonl; says '--explain prints text only'
expect 64 objects "$store" --limit -1
expect 64 objects "$store" --remote --outbox; says "had already been set with flag '--remote'"
expect 64 objects "$store" --outbox --format csv; says '--outbox does not print csv'
expect 64 objects "$store" --results --entity Person --where TRUEPREDICATE; says '--where is for objects'
expect 0 objects "$store" --outbox; silent; prints ''
expect 0 objects "$temporary/remote" --results --limit 0; silent; prints ''
cp -r "$temporary/remote" "$temporary/pageless"
expect 0 delete "$temporary/pageless" 'table 4294967293' "\"$list/3/00000001\"" --force
expect 1 objects "$temporary/pageless" --results; says 'the list "Animal all" lacks page 1'
expect 0 put "$temporary/pageless" 'table 4294967294' 2 "x'01'" --force
expect 1 objects "$temporary/pageless" --remote; says 'the origin of p2: it ends too early'
expect 0 objects "$store" --entity Sample --where FALSEPREDICATE; prints ''
expect 0 info "$store" --format jsonl
grep -qF '"coreData":{"uuid":"'"$uuid"'","entities":[{"name":"Animal","number":1,"objects":1,"keyspace":"table 1"},' "$temporary/out" \
  || fail "printed $(cat "$temporary/out")"
expect 0 segments "$store" --format jsonl
grep -qF '{"keyspace":"table 7","entity":"Person","records":6,"tombstones":1,' "$temporary/out" || fail "printed $(cat "$temporary/out")"
expect 0 stats "$store" --format jsonl
grep -q '"prefixes":\[[^]]*\],"entity":"Person"}' "$temporary/out" || fail "printed $(cat "$temporary/out")"
expect 0 records "$store" --keyspace Person --key 4 --limit 1 --format jsonl
grep -q '"meaning":{"row":"object","object":"x-coredata://[^"]*/Person/p4","entity":"Person"}}$' "$temporary/out" \
  || fail "printed $(cat "$temporary/out")"
expect 1 history "$store" Person/p4; says 'kvdump: there is no Person/p4'; prints ''
expect 2 history "$store" Persn/p1; says 'there is no entity "Persn"'
expect 64 history Tests/Data/Fixtures/everything references; says 'A row is named by its keyspace and its key'
expect 64 history "$store" Person/p1 --limit 2; says '--limit and --author are for transactions'
expect 2 history Tests/Data/Fixtures/everything; says 'there are no Core Data objects in Tests/Data/Fixtures/everything'
expect 0 history "$store"; silent
expect 2 history Tests/Data/Fixtures/everything Person/p1; says 'there are no Core Data objects in Tests/Data/Fixtures/everything'
diff -r "$temporary/before" "$store" || fail "looking changed the store"

# Where the schema cannot be read, rows have the names of the engine; where a row cannot be read, its value is bytes.
nameless=$temporary/nameless
cp -r "$store" "$nameless"
expect 0 put "$nameless" "table 7" 2 x --force
expect 0 tail "$nameless" -n 1; grep -qF $'  + Person/p2\t"x"' "$temporary/out" || fail "printed $(cat "$temporary/out")"
expect 0 put "$nameless" "table 0" 2 x --force
expect 0 tail "$nameless" -n 2; grep -qF $'  + table 7\t2\t"x"' "$temporary/out" || fail "printed $(cat "$temporary/out")"
for command in info records stats segments; do
  expect 0 "$command" "$nameless"; silent
  ! grep -qE 'Person|core data' "$temporary/out" || fail "kvdump $command names an entity: $(cat "$temporary/out")"
done
expect 0 history "$nameless" "table 7" 1; silent
grep -q "x'01" "$temporary/out" || fail "printed $(cat "$temporary/out")"

# tail -f names the objects of a schema that a writer writes meanwhile.
"${PYTHON:-python3}" - "$kvdump" "$store" "$temporary/followed" <<'END' || fail "tail -f does not name the objects"
import shutil, subprocess, sys
kvdump, store, followed = sys.argv[1:]
shutil.copytree(store, followed)
segment = followed + "/0000000001.segment"
whole = open(segment, "rb").read()
open(segment, "wb").write(whole[:128])
tail = subprocess.Popen([kvdump, "tail", "-f", followed, "--format", "jsonl"], stdout=subprocess.PIPE, text=True)
assert '"schema":"kvdump.tail"' in tail.stdout.readline()
open(segment, "wb").write(whole)
lines = [tail.stdout.readline() for _ in range(20)]
tail.kill()
assert all('"object":"x-coredata://' in line for line in lines[4:]), lines
END

# Objects of another store keep their relationships, and get identifiers of their own.
fleet=$PWD/Tests/Data/Models/Fleet.xcdatamodel
cat >"$temporary/fleet.jsonl" <<'END'
{"object":"beagle","entity":"Ship","attributes":{"callSign":"BGL","draught":3.5,"launched":"1820-05-11T00:00:00.25Z","tonnage":235},"relationships":{"crew":["fitzroy","darwin"]}}
{"object":"darwin","entity":"Sailor","attributes":{"name":"Charles"}}
{"object":"fitzroy","entity":"Sailor","attributes":{"name":"Robert"},"relationships":{"ship":"beagle"}}
END
expect 0 import "$temporary/fleet" "$temporary/fleet.jsonl" --model "$fleet" --create; silent
prints 'imported 3 objects: 3 inserted, 0 updated, 0 unchanged'
for format in jsonl csv; do
  "$kvdump" objects "$temporary/fleet" --format "$format" >"$temporary/fleet.$format"
  expect 0 import "$temporary/fleet" "$temporary/fleet.$format" --model "$fleet"
  prints 'imported 3 objects: 0 inserted, 0 updated, 3 unchanged'
  expect 0 import "$temporary/$format" "$temporary/fleet.$format" --model "$fleet" --create --format jsonl
  grep -q '"inserted":3,"updated":0,"unchanged":0' "$temporary/out" || fail "imported $(cat "$temporary/out")"
  expect 0 verify "$temporary/$format"
  grep -q '^sound: ' "$temporary/out" || fail "a store is not sound after an import"
done
diff <("$kvdump" objects "$temporary/jsonl") <("$kvdump" objects "$temporary/csv") || fail "the copies are not the same"
grep -q '"draught":3.5,"latitude":0.0,"launched":"1820-05-11T00:00:00.25Z","longitude":0.0,"tonnage":235' "$temporary/fleet.jsonl" \
  || fail "the ship is another: $(cat "$temporary/fleet.jsonl")"

# The way to another model: what it adds has its default value, and what it lacks is refused until the lines lack it, too.
mkdir "$temporary/Newer.xcdatamodel"
sed '/name="tonnage"/s/.*/<attribute name="flag" attributeType="String" defaultValueString="white"\/>/' "$fleet/contents" \
  >"$temporary/Newer.xcdatamodel/contents"
newer=$temporary/Newer.xcdatamodel
expect 2 import "$temporary/fleet" "$temporary/fleet.jsonl" --model "$newer"; says 'another model'
expect 65 import "$temporary/newer" "$temporary/fleet.jsonl" --create --model "$newer"; says 'tonnage'
sed -E 's/,"tonnage":[0-9]+//' "$temporary/fleet.jsonl" | expect 0 import "$temporary/newer" --create --model "$newer"
prints 'imported 3 objects: 3 inserted, 0 updated, 0 unchanged'
"$kvdump" objects "$temporary/newer" --entity Ship >"$temporary/ships"
grep -q 'BGL' "$temporary/ships" && grep -q 'white' "$temporary/ships" || fail "the ship is another: $(cat "$temporary/ships")"
expect 0 verify "$temporary/newer"

# Nothing would tell a remote service of what is imported.
"$kvdump" objects "$temporary/remote" --entity Animal --format jsonl >"$temporary/animals.jsonl"
expect 2 import "$temporary/remote" "$temporary/animals.jsonl" --model "$fleet"; says 'are those of a remote service'

# Lines refer to objects of the store; texts may be anything.
printf 'name,ship\r\nMate,Ship/p1\r\n"A ""b"",\nc",\r\n' | expect 0 import "$temporary/fleet" --model "$fleet" --entity Sailor
expect 0 objects "$temporary/fleet" --entity Sailor --where 'ship == nil' --format csv
grep -q ',"A ""b"",$' "$temporary/out" || fail "imported $(cat "$temporary/out")"
expect 0 object "$temporary/fleet" Ship/p1 --format jsonl
grep -q '"crew":{"count":3,' "$temporary/out" || fail "the inverse does not know the new sailor"
printf 'object,ship\nSailor/p2,\n' | expect 0 import "$temporary/fleet" --model "$fleet"
expect 0 object "$temporary/fleet" Ship/p1 --format jsonl
grep -q '"crew":{"count":2,' "$temporary/out" || fail "the inverse still knows the sailor who has left"
expect 0 verify "$temporary/fleet"

# The name of an object may have spaces where it is the only one.
cat >"$temporary/spaces.jsonl" <<'END'
{"object":"the Beagle","entity":"Ship","attributes":{"callSign":"BGL"},"relationships":{"crew":["a mate"]}}
{"object":"a mate","entity":"Sailor","attributes":{"name":"Mate"}}
{"object":"a cook","entity":"Sailor","attributes":{"name":"Cook"},"relationships":{"ship":"the Beagle"}}
END
expect 0 import "$temporary/spaces" "$temporary/spaces.jsonl" --model "$fleet" --create
expect 0 object "$temporary/spaces" Ship/p1 --format jsonl
grep -q '"crew":{"count":2,' "$temporary/out" || fail "imported $(cat "$temporary/out")"

# A quotation mark is doubled whatever it makes a character with.
marks=$(printf '\xd8\x80"\xcc\x81,"\xef\xb8\x8f"')
printf '{"entity":"Sailor","attributes":{"name":"%s"}}\n' "${marks//\"/\\\"}" >"$temporary/marks.jsonl"
expect 0 import "$temporary/marks" "$temporary/marks.jsonl" --model "$fleet" --create
expect 0 objects "$temporary/marks" --format csv --entity Sailor
grep -qF ",\"${marks//\"/\"\"}\"," "$temporary/out" || fail "printed $(cat "$temporary/out")"
expect 0 import "$temporary/marks" --model "$fleet" <<<"$(cat "$temporary/out")"
prints 'imported 1 object: 0 inserted, 0 updated, 1 unchanged'

# A table comes back as it was, whatever its texts are.
mkdir "$temporary/note.xcdatamodel"
cat >"$temporary/note.xcdatamodel/contents" <<'END'
<model><entity name="Note"><attribute name="text" optional="YES" attributeType="String"/>
<attribute name="time" optional="YES" attributeType="Date"/></entity>
<entity name="Word"><attribute name="text" optional="YES" attributeType="String"/></entity></model>
END
note=$temporary/note.xcdatamodel
for text in null '""' '"a\rb"' '"a\nb"' '"a\r\n"' '"\r"' '"\n"' '"\"\""' '"a\"b"' '"a,b"' '","' '" a "' '" "' '"\t"' '"{"'; do
  printf '{"entity":"Note","attributes":{"text":%s,"time":"2001-01-01T00:00:00.3000000000000000444Z"}}\n' "$text"
  printf '{"entity":"Word","attributes":{"text":%s}}\n' "$text"
done >"$temporary/notes.jsonl"
expect 0 import "$temporary/notes" "$temporary/notes.jsonl" --model "$note" --create; silent
for entity in Note Word; do
  "$kvdump" objects "$temporary/notes" --entity "$entity" --format csv >"$temporary/notes.csv"
  expect 0 import "$temporary/notes" "$temporary/notes.csv" --model "$note"
  prints 'imported 15 objects: 0 inserted, 0 updated, 15 unchanged'
  expect 0 import "$temporary/$entity" "$temporary/notes.csv" --model "$note" --create; silent
  diff <("$kvdump" objects "$temporary/notes" --entity "$entity" --format jsonl | grep -o '"attributes".*') \
    <("$kvdump" objects "$temporary/$entity" --format jsonl | grep -o '"attributes".*') || fail "other notes came back"
done

# In a table of one column, an empty line is nil; elsewhere it is nothing. A carriage return ends no cell.
for end in '\n' '\r\n'; do
  rm -rf "$temporary/words"
  printf "text${end}a${end}${end}\"\"${end} b ${end}c\rd${end}\"e\rf\"${end}" >"$temporary/words.csv"
  expect 0 import "$temporary/words" "$temporary/words.csv" --model "$note" --entity Word --create; silent
  prints 'imported 6 objects: 6 inserted, 0 updated, 0 unchanged'
  "$kvdump" objects "$temporary/words" --format jsonl | sed -n 's/.*"attributes":{"text":\(.*\)},"relation.*/\1/p' \
    >"$temporary/out"
  prints $'"a"\nnull\n""\n" b "\n"c\\rd"\n"e\\rf"'
done
printf '\ntext,time\na,\n\nb,\n\n' | expect 0 import "$temporary/words" --model "$note" --entity Note
prints 'imported 2 objects: 2 inserted, 0 updated, 0 unchanged'

# Names that would change how a terminal shows what is around them.
mkdir "$temporary/names.xcdatamodel"
cat >"$temporary/names.xcdatamodel/contents" <<'END'
<model><entity name="A&#x202E;" isAbstract="YES"/><entity name="B" parentEntity="A&#x202E;">
<attribute name="entity" optional="YES" attributeType="String"/></entity>
<entity name="C"><attribute name="name" attributeType="String"/>
<relationship name="object" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="B"/></entity></model>
END
names=$temporary/names.xcdatamodel
printf '{"entity":"B","attributes":{"entity":"C"}}\n' | expect 0 import "$temporary/names" --model "$names" --create
expect 0 schema "$temporary/names"
grep -qF 'B: 1 object, inherits from "A\u{202E}"' "$temporary/out" || fail "printed $(cat "$temporary/out")"

# Properties that are named as columns of CSV that have no property.
for entity in B C; do
  expect 65 objects "$temporary/names" --entity "$entity" --format csv
  says 'which has another meaning in CSV; use --format jsonl'; prints ''
done
expect 0 objects "$temporary/names" --entity B --format jsonl
printf 'entity\nB\n' | expect 65 import "$temporary/names" --model "$names" --entity B
says 'line 2: a property of B is named entity, which has another meaning in CSV'
printf 'name,object\nx,new\n' | expect 65 import "$temporary/names" --model "$names" --entity C
says 'line 2: a property of C is named object, which has another meaning in CSV'
printf 'name\nx\n' | expect 0 import "$temporary/names" --model "$names" --entity C

# refuses LINES WORDS…: nothing is imported, and why is said.
refuses() {
  local lines=$1 words=$2
  shift 2
  "$kvdump" objects "$temporary/fleet" --format jsonl >"$temporary/was"
  printf '%b' "$lines" | expect ${status:-65} import "$temporary/fleet" --model "$fleet" "$@"
  says "$words"
  "$kvdump" objects "$temporary/fleet" --format jsonl | diff "$temporary/was" - || fail "something was imported"
  expect 0 verify "$temporary/fleet"
}
refuses 'callSign\nnew\nBGL\n' 'nothing was imported: line 3: another object has the same callSign' --entity Ship
refuses 'callSign\nnew\nnew\n' 'nothing was imported: lines 2, 3: callSign must be unique' --entity Ship
refuses 'callSign\nnew\n""\n,\n' 'line 4: 2 cells where there are 1 column' --entity Ship
refuses 'callSign,tonnage\nnew,1\n,2\n' 'nothing was imported: line 3: Ship.callSign needs a value' --entity Ship
refuses 'callSign,tonnage\nnew,many\n' 'line 2: tonnage is not a whole number' --entity Ship
refuses 'callSign,launched\nnew,2023-02-29T00:00:00Z\n' 'line 2: launched is not a date such as 2001-01-01T00:00:00Z' --entity Ship
refuses 'callSign,launched\nnew,1700000000\n' 'line 2: launched is not a date such as 2001-01-01T00:00:00Z' --entity Ship
refuses 'callSing\nnew\n' 'line 2: Ship has no stored property "callSing"' --entity Ship
refuses 'callSign\n"new\n' 'line 2: a quoted cell has no closing quote' --entity Ship
refuses 'callSign\n"new"x\n' 'line 2: a cell continues after its closing quote' --entity Ship
refuses 'name,ship\nMate,Ship/p99\n' 'line 2: there is no object Ship/p99' --entity Sailor
refuses 'name,ship\nMate,Sailor/p2\n' 'line 2: ship: Sailor/p2 has the entity Sailor' --entity Sailor
refuses 'object,name\nSailor/p2,A\nSailor/p2,B\n' 'line 3: Sailor/p2 appears twice'
refuses 'name\nMate\n' 'line 2: the object has no entity; use --entity to name one'
status=2 refuses 'name\nMate\n' 'the model has no entity "Saylor"' --entity Saylor
refuses '{"entity":"Sailor","attributes":{"name":1}}\n' 'line 1: name is not text'
refuses '{"entity":"Sailor","atributes":{}}\n' 'line 1: an object cannot have the member "atributes"'
refuses '{"entity":"Sailor",\n' 'line 1: not a JSON object on one line'
refuses '{"schema":"kvdump.objects","schemaVersion":1}\n{"entity":"Sailor","attributes":{"name":"A"}}\n' 'the last line is missing'
refuses '' 'the input is empty'
expect 2 import "$temporary/nowhere" "$temporary/fleet.csv" --model "$fleet"; says 'there is no store at'
expect 2 import "$temporary/nowhere" "$temporary/fleet.jsonl" --model "$fleet" --create --entity Saylor
[[ ! -e $temporary/nowhere ]] || fail "an import that was refused left a store"
expect 2 import "$temporary/fleet" "$temporary/fleet.csv" --model Tests/Data/Models/Diary.xcdatamodeld; says 'another model'
expect 2 import "$temporary/fleet" "$temporary/fleet.csv" --model "$temporary"; says 'there is no file named contents'
expect 64 import "$temporary/fleet" "$temporary/fleet.csv"
"${PYTHON:-python3}" - "$kvdump" "$temporary/fleet" "$temporary/fleet.csv" "$fleet" <<'END' || fail "imported into a store in use"
import fcntl, subprocess, sys
kvdump, store, objects, model = sys.argv[1:]
lock = open(store + "/LOCK", "r+")
fcntl.flock(lock, fcntl.LOCK_EX)
lock.truncate(0)
lock.write("process 4711 on somewhere")
lock.flush()
done = subprocess.run([kvdump, "import", store, objects, "--model", model], capture_output=True, text=True)
assert done.returncode == 4 and "process 4711" in done.stderr, done
END

# What cannot be read is left out and told; everything else is printed.
damaged=$temporary/damaged
cp -r "$store" "$damaged"
expect 0 put "$damaged" "table 7" 2 x --force
expect 1 objects "$damaged" --entity Person --where TRUEPREDICATE; says 'the row of Person/p2: '
grep -q Person/p3 "$temporary/out" || fail "printed $(cat "$temporary/out")"
expect 3 objects "$damaged" --entity Person --where 'name == "Ann"'; says 'Person/p2'
expect 0 put "$damaged" "table 7" "x'00'" x --force
for format in text json jsonl csv; do
  expect 1 objects "$damaged" --entity Person --format "$format"
  says 'kvdump: corrupted: the row of Person/p2: '
  says "kvdump: corrupted: the row x'00' of Person: an object's reference must be a number, a string or a UUID"
  grep -q Person/p1 "$temporary/out" && grep -q Person/p3 "$temporary/out" || fail "printed $(cat "$temporary/out")"
done
expect 0 objects "$damaged" --entity Person --limit 1; silent
expect 0 objects "$damaged" --entity Animal; silent
expect 1 objects "$damaged" --format jsonl
[[ $(tail -n 1 "$temporary/out") == '{"end":true,"count":7}' ]] || fail "printed $(cat "$temporary/out")"
pack=$("$kvdump" scan "$store" entries --keys-only | head -n 1)
expect 0 put "$damaged" entries "$pack" x --force
expect 1 objects "$damaged" --format csv; says "Animal/p7: the pack $pack: "
expect 1 objects "$damaged"; says 'the row of Person/p2: '
grep -q Animal/p7 "$temporary/out" || fail "printed $(cat "$temporary/out")"

# An object that cannot be read is not said to be missing.
sailors=$("$kvdump" schema "$temporary/fleet" --format jsonl | sed -n 's/.*"name":"Sailor","number":\([0-9]*\).*/\1/p')
cp -r "$temporary/fleet" "$temporary/wrecked"
expect 0 put "$temporary/wrecked" "table $sailors" 2 x --force
printf 'name\nMate\n' | expect 0 import "$temporary/wrecked" --model "$fleet" --entity Sailor
printf 'object,name\nSailor/p2,Mate\n' | expect 3 import "$temporary/wrecked" --model "$fleet"
says 'kvdump: line 2: Sailor/p2 cannot be read: '

"${PYTHON:-python3}" Tests/Scripts/KvdumpObjects/interrupt.py "$kvdump" "$fleet" "$temporary" || fail "Control-C leaves what it should not"

# A store that a full disk has kept from being made can be made later, but nothing else is taken for one.
(trap '' XFSZ && ulimit -S -f 0 && ! "$kvdump" import "$temporary/full" "$temporary/fleet.csv" --model "$fleet" --create) \
  2>/dev/null || fail "made a store on a full disk"
[[ $(ls "$temporary/full") == LOCK ]] || fail "the full disk has $(ls "$temporary/full")"
expect 0 import "$temporary/full" "$temporary/fleet.csv" --model "$fleet" --create; silent
mkdir "$temporary/other" && echo mine >"$temporary/other/file"
for path in other other/file; do
  expect 2 import "$temporary/$path" "$temporary/fleet.csv" --model "$fleet" --create
  [[ $(cat "$temporary/other/file") == mine ]] || fail "an import has removed a file"
done

# A part of the store in a keyspace of the wrong order is no such part.
for change in '"table 7","order":"ordered/"table 7","order":"unordered' '"touches 7","order":"unordered/"touches 7","order":"ordered'; do
  rm -rf "$temporary/misordered"
  "$kvdump" dump "$store" --format jsonl | sed "s/$change/" | "$kvdump" load -o "$temporary/misordered" >/dev/null
  expect 1 verify "$temporary/misordered"
  [[ $change == *touches* ]] && order=unordered || order=ordered
  grep -q "7: the keyspace must be $order" "$temporary/out" || fail "verify does not miss the order: $(cat "$temporary/out")"
done

# The rows of objects are changed with --force only.
refusal='has rows of Core Data objects, which depend on other rows; use --force to change it anyway'
expect 2 put "$store" "table 7" 1 x; says "table 7 $refusal"
expect 2 delete "$store" "table 7" 1; says "table 7 $refusal"
expect 2 drop "$store" "table 0"; says "table 0 $refusal"
expect 2 drop "$store" "touches 7"; says "touches 7 $refusal"
expect 2 drop "$store" entries; says "entries $refusal"
diff <("$kvdump" tail "$temporary/before") <("$kvdump" tail "$store") || fail "a change that was refused was made"
expect 0 delete "$store" "table 7" 1 --force; silent
expect 1 verify "$store"
grep -q 'Person 1, which does not exist' "$temporary/out" || fail "verify does not miss the object"

echo "kvdump objects: $checks checks hold" >&2
