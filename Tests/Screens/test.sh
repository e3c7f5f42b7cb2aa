#!/usr/bin/env bash
# Whether what KVDUMP-SESSION.md and KVDUMP.md in Documentation show of kvdump is what it prints: every command of the
# session is run on stores made of the sample catalogue, every dump is loaded and dumped again.
#
#     SCREENS_WRITE=1 bash Tests/Screens/test.sh     puts what is printed now into the session, all of one run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for product in kvdump catalogue; do swift build --product "$product" >&2; done
binaries=$(swift build --show-bin-path)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/bin"
ln -s "$binaries/kvdump" "$temporary/bin/kvdump"
"$binaries/catalogue" --store "$temporary/demo-store" \
  --input Tools/catalogue/Sample/debian_bookworm_main_binary-amd64_Packages >/dev/null
PATH="$temporary/bin:$PATH" python3 Tests/Screens/screens.py "$temporary"
