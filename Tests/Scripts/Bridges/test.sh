#!/usr/bin/env bash
# A package that asks for the trait Bridges gets the figures and the events of a store through swift-metrics and swift-log,
# and the code of the module's catalogue compiles.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -R "$here/Package.swift" "$here/Sources" "$work"
mkdir -p "$work/Sources/Pages"
code_as_function "$root/Sources/CairnBridges/CairnBridges.docc/CairnBridges.md" "_ store: Store" \
  >"$work/Sources/Pages/Pages.swift"
build_with_traits "$work"
cd "$work"
# Through a pipe, because the program lets no file grow.
"$root/.build-traits/debug/Bridged" | cat >output
diff output - <<'EXPECTED'
rows: 10.0
commits take time: true
compaction: false
critical: writing has ended:, bridged.cairn
refused: poisoned
EXPECTED
echo "figures and events of a store go to swift-metrics and swift-log"
