#!/usr/bin/env bash
# A package that imports CoreData beside Foundation builds and runs, reads a model from its resources, and compiles the
# classes that modelgen writes for everybody.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -R "$here/Package.swift" "$here/Sources" "$work"
sed -i "s|\.package(name: \"Cairn\", path: \"../..\")|.package(name: \"Cairn\", path: \"$root\")|" "$work/Package.swift"
mkdir -p "$work/Sources/Consumer/Models"
cp -R "$root/Tests/Models/Diary.xcdatamodeld" "$work/Sources/Consumer/Models"

swift build --package-path "$root" --scratch-path "$root/.build-consumer" --product modelgen --quiet
modelgen="$root/.build-consumer/debug/modelgen"
for model in "$root"/Tests/Models/*.xcdatamodel*; do
  "$modelgen" "$model" --output "$work/Sources/Consumer/Classes" --access public >/dev/null
done
cp "$root/Tests/OpenCoreDataTests/ModelGen/NSManagedObject.swift" "$work/Sources/Consumer"
sed -i 's/^class/public class/; s/^  func/  public func/' "$work/Sources/Consumer/NSManagedObject.swift"

# With the stand-in for the class, some imports look superfluous.
swift build --package-path "$work" --scratch-path "$root/.build-consumer-core-data" --quiet -Xswiftc -suppress-warnings
"$root/.build-consumer-core-data/debug/Consumer" >"$work/output"
diff "$work/output" - <<'EXPECTED'
Note: created, text
1 1 9w/hhPQcVedTk/x2Ly+P9GIfQZfTOAeBbHQB1f9AAfc=
true true
Entry: date, mood, photo, starred, text
Tag: name
EXPECTED

status=0
"$modelgen" "$work/none.xcdatamodeld" --output "$work" 2>"$work/output" || status=$?
[[ $status = 2 ]] || { echo "modelgen: status $status and not 2 for a model that is missing" >&2; exit 1; }
diff "$work/output" - <<<"modelgen: $work/none.xcdatamodeld: there is no model that can be read"
"$modelgen" --help | grep -q "Exit status: 0 done"
echo "a consumer of Core Data builds, and so do the classes that modelgen writes"
