#!/usr/bin/env bash
# The folders of the sources: each uses only types of those below it, in the order of ARCHITECTURE.md and OBJECTS.md.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 "$here/folders.py"
