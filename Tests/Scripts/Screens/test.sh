#!/usr/bin/env bash
# Whether what KVDUMP-SESSION.md and KVDUMP.md in Documentation show of kvdump is what it prints: every command of the
# session is run on stores made of the sample catalogue, every dump is loaded and dumped again.
#
#     SCREENS_WRITE=1 bash Tests/Scripts/Screens/test.sh     puts what is printed now into the session, all of one run
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
cd "$root"

need_products kvdump catalogue
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/bin"
ln -s "$products/kvdump" "$temporary/bin/kvdump"
"$products/catalogue" --store "$temporary/demo-store" \
  --input Tools/catalogue/Sample/debian_bookworm_main_binary-amd64_Packages >/dev/null
PATH="$temporary/bin:$PATH" python3 Tests/Scripts/Screens/screens.py "$temporary"
