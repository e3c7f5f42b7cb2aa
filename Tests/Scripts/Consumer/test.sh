#!/usr/bin/env bash
# A package that depends on Cairn by path builds and runs, and its program is the one in the README. The code of
# Documentation/ENGINE.md, and of the landing pages of the modules, compiles.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n '/^```swift$/,/^```$/p' "$root/README.md" | sed '1d;$d' >"$work/readme.swift"
sed -n '/^```swift$/,/^```$/p' "$root/Sources/Cairn/Cairn.docc/Cairn.md" | sed '1d;$d' >"$work/landing.swift"
for program in readme landing; do
  diff "$work/$program.swift" "$here/Sources/Consumer/main.swift" \
    || { echo "Consumer: the program in the README, or of the module's landing page, is another one" >&2; exit 1; }
done

cp -R "$here/Package.swift" "$here/Sources" "$work"
sed -i "s|path: \"../../..\"|path: \"$root\"|" "$work/Package.swift"
mkdir -p "$work/Sources/Engine"
mkdir -p "$work/Sources/Landing"
sed -n '/^```swift$/,/^```$/{//!p;}' "$root/Sources/CairnFoundation/CairnFoundation.docc/CairnFoundation.md" \
  >"$work/Sources/Landing/main.swift"
sed -n '/^```swift engine$/,/^```$/{//!p;}' "$root/Documentation/ENGINE.md" >"$work/Sources/Engine/Engine.swift"
build_consumer "$work"
cd "$work"
"$root/.build-consumer/debug/Consumer" >output
diff output - <<'EXPECTED'
the rusty one
the red one
("Mars", "Deimos") 6.2 km
("Mars", "Phobos") 11.3 km
EXPECTED
echo "a consumer builds, and prints what the README says"
