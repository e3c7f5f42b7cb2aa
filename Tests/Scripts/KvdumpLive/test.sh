#!/usr/bin/env bash
# kvdump beside a process that writes: no command may report what isn't so, or change anything, and tail -f shows every
# commit.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need_products kvdump
build_consumer "$here" --configuration release
"${PYTHON:-python3}" "$here/live.py" "$products/kvdump" \
  "$root/.build-consumer/release/Writer" "$work"
