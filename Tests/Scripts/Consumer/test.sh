#!/usr/bin/env bash
# A package that depends on Cairn by path builds and runs the program of README.md, which is also that of the module's
# landing page. The code of the other pages about the engine compiles: in Documentation, and in the modules' catalogues.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/Package.swift" "$work"
sed -i "s|path: \"../../..\"|path: \"$root\"|" "$work/Package.swift"
mkdir -p "$work/Sources/"{Consumer,Engine,Pages}
catalogue="$root/Sources/Cairn/Cairn.docc"
code "$root/README.md" >"$work/Sources/Consumer/main.swift"
code "$catalogue/Cairn.md" | diff - "$work/Sources/Consumer/main.swift" \
  || fail "the program of the module's landing page is not that of the README"
sed -n '/^```swift engine$/,/^```$/{//!p;}' "$root/Documentation/ENGINE.md" >"$work/Sources/Engine/Engine.swift"
# These pages use what the landing page has opened.
for page in "$catalogue"/*.md "$root"/Sources/{CairnFoundation,CairnInspection}/*.docc/*.md \
  "$root"/Documentation/{READERS,TUNING}.md; do
  [[ $page == "$catalogue/Cairn.md" ]] \
    || code_as_function "$page" "_ store: Store, _ planets: Keyspace, _ moons: Keyspace, _ path: String, _ isRunning: Bool"
done >"$work/Sources/Pages/Pages.swift"
build_consumer "$work"
cd "$work"
"$root/.build-consumer/debug/Consumer" >output
diff output - <<'EXPECTED'
("Mars", "Deimos") 6.2 km
("Mars", "Phobos") 11.3 km
the rusty one
the red one
EXPECTED
echo "a consumer builds, and prints what the README says"
