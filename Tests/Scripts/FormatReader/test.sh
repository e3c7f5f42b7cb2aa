#!/usr/bin/env bash
# The reader written from FORMAT.md alone and kvdump have to see the same rows in every fixture.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
need_python_lz4
cd "$root"

python=${PYTHON:-python3}
reader=Tests/Scripts/FormatReader/cairn_reader.py
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

need_products kvdump
kvdump=$products/kvdump

compared=0
# One that kvdump has made, too.
"$kvdump" compact Tests/Data/Fixtures/dictionary -o "$temporary/copied" >/dev/null
for store in Tests/Data/Fixtures/*/ "$temporary/copied"; do
  store=${store%/}
  "$python" "$reader" "$store" >"$temporary/reader"
  "$kvdump" info "$store" --format json | "$python" -c '
import json, sys
for keyspace in json.load(sys.stdin)["keyspaces"]:
  print(json.dumps(keyspace["name"], ensure_ascii=False))' >"$temporary/kvdump"
  diff "$temporary/reader" "$temporary/kvdump" || { echo "$store: the keyspaces differ" >&2; exit 1; }

  while IFS= read -r name; do
    keyspace=$("$python" -c 'import json, sys; print(json.loads(sys.argv[1]))' "$name")
    "$python" "$reader" "$store" "$keyspace" | LC_ALL=C sort >"$temporary/reader"
    "$kvdump" scan "$store" "$keyspace" --format jsonl | grep '^{"key":' | LC_ALL=C sort >"$temporary/kvdump"
    diff "$temporary/reader" "$temporary/kvdump" || { echo "$store: the rows of $keyspace differ" >&2; exit 1; }
    compared=$((compared + $(wc -l <"$temporary/reader")))
  done < <("$python" "$reader" "$store")
done
for name in rows heap; do "$python" "$reader" Tests/Data/Fixtures/retained "$name" history; done >"$temporary/reader"
diff "$temporary/reader" Tests/Scripts/FormatReader/retained.jsonl || { echo "the histories differ" >&2; exit 1; }
[[ $compared -gt 300 ]] || { echo "only $compared rows were compared" >&2; exit 1; }
echo "both readers see the same $compared rows" >&2
