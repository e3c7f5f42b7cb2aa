#!/usr/bin/env bash
# A package that imports CoreData beside Foundation builds and runs, reads a model from its resources, and compiles the
# classes that modelgen writes for everybody. Names that Foundation has, too, are told apart. The program of
# Documentation/CORE-DATA.md prints what stands there, that of README.md keeps its objects, the code of the other pages
# about Core Data and of the modules' catalogues compiles, and the context of the main queue works in a synchronous and
# in an asynchronous main.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -R "$here/Package.swift" "$here/Sources" "$work"
mkdir -p "$work/Sources/Page"
sed -n '/^```swift main.swift$/,/^```$/{//!p;}' "$root/Documentation/CORE-DATA.md" >"$work/Sources/Page/main.swift"
mkdir -p "$work/Sources/Readme"
sed -n '/^```swift main.swift$/,/^```$/{//!p;}' "$root/README.md" >"$work/Sources/Readme/main.swift"
mkdir -p "$work/Sources/Recipes"
sed -n '/^```swift recipe$/,/^```$/{//!p;}' "$root/Documentation/RECIPES.md" >"$work/Sources/Recipes/Recipes.swift"
parameters="context: NSManagedObjectContext, description: NSPersistentStoreDescription, note: Note, fleet: Fleet, lines: Lines"
{
  printf 'import %s\n' CairnIncrementalStore CoreData Observation RemoteIncrementalStore RowStoreConformance
  echo "extension Setting {"
  for page in "$root"/Sources/{OpenCoreData,IncrementalStore,CairnIncrementalStore,RowStoreConformance}/*.docc/*.md \
    "$root"/Documentation/{CORE-DATA,INCREMENTAL-STORE,MODELS,PREDICATES,REMOTE}.md; do
    code_as_function "$page" "$parameters" 'do {' '}' | sed '/^import /d'
  done
  echo "}"
} >"$work/Sources/Pages/Pages.swift"
sed -i "s|\.package(name: \"Cairn\", path: \"../../..\")|.package(name: \"Cairn\", path: \"$root\")|" "$work/Package.swift"
mkdir -p "$work/Sources/Consumer/Models"
cp -R "$root/Tests/Data/Models/Diary.xcdatamodeld" "$work/Sources/Consumer/Models"

need_products modelgen
modelgen="$products/modelgen"
for model in "$root"/Tests/Data/Models/*.xcdatamodel*; do
  "$modelgen" "$model" --output "$work/Sources/Consumer/Classes" --access public >/dev/null
done
# The model says that this class is written by hand.
sed 's/^class/public class/' "$root/Tests/OpenCoreDataTests/ModelGen/Magazine.swift" \
  >"$work/Sources/Consumer/Magazine.swift"

build_consumer "$work"
"$root/.build-consumer/debug/Consumer" >"$work/output"
diff "$work/output" - <<'EXPECTED'
Note: created, text
1 1 9w/hhPQcVedTk/x2Ly+P9GIfQZfTOAeBbHQB1f9AAfc=
true true
Entry: date, mood, photo, starred, text
Tag: name
EXPECTED

# The page's own program, with a synchronous main, and one with an asynchronous main.
"$root/.build-consumer/debug/Page" >"$work/output"
sed -n '/^```text output$/,/^```$/{//!p;}' "$root/Documentation/CORE-DATA.md" | diff "$work/output" -
# The second run finds what the first has saved.
for count in 1 2; do
  (cd "$work" && "$root/.build-consumer/debug/Readme") >"$work/output"
  diff "$work/output" - < <(for ((n = 0; n < count; n++)); do echo "Crashes on Mars"; done)
done
(cd "$work" && "$root/.build-consumer/debug/Readme" -com.apple.CoreData.SQLDebug 1) 2>&1 >/dev/null \
  | grep -qE '^CoreData: fetch: [A-Z][a-z]+: all rows\. Entries read: 0, rows read: 6, found: 3, in [0-9.]+ ms$' \
  || { echo "a fetch is not logged" >&2; exit 1; }
timeout 60 "$root/.build-consumer/debug/Asynchronous" >"$work/output"
diff "$work/output" - <<'EXPECTED'
["before", "elsewhere"]
2 false
true 2
EXPECTED

# Names that Foundation has, too: said once for a module, or file by file beside one re-export of Core Data.
"$root/.build-consumer/debug/Names" >"$work/output"
diff "$work/output" - <<'EXPECTED'
[1, 1, 1] [1, 1, 1]
1 1
[["text": "Note"]]
true true
["new"]
a:b [1, 2]
EXPECTED
"$root/.build-consumer/debug/Imports" | diff - <(echo "name 1")

status=0
"$modelgen" "$work/none.xcdatamodeld" --output "$work" 2>"$work/output" || status=$?
[[ $status = 2 ]] || { echo "modelgen: status $status and not 2 for a model that is missing" >&2; exit 1; }
diff "$work/output" - <<<"modelgen: $work/none.xcdatamodeld: there is no model that can be read"
"$modelgen" --help | grep -q "Exit status: 0 success"
echo "a consumer of Core Data builds, and so do the classes that modelgen writes"
