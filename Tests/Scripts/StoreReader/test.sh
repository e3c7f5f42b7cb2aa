#!/usr/bin/env bash
# The reader written from STORE-FORMAT.md alone sees the objects that a program has saved, and kvdump finds nothing wrong
# with them but the references that deletions have left.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
need_python_lz4
cd "$root"
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }

python=${PYTHON:-python3}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

need_products storewriter kvdump

"$products/storewriter" "$temporary/store"
"$python" Tests/Scripts/StoreReader/reader.py "$temporary/store" >"$temporary/objects"
diff Tests/Scripts/StoreReader/objects.jsonl "$temporary/objects" || { echo "the objects are others" >&2; exit 1; }
"$python" Tests/Scripts/StoreReader/keys.py "$temporary/store" >"$temporary/keys"
diff Tests/Scripts/StoreReader/keys.jsonl "$temporary/keys" || { echo "the keys are others" >&2; exit 1; }

"$products/kvdump" verify "$temporary/store" >"$temporary/findings"
diff Tests/Scripts/StoreReader/findings.txt <(sed '$d' "$temporary/findings") || { echo "the findings are others" >&2; exit 1; }
tail -n 1 "$temporary/findings" | grep -q '^sound: '

# History: what a program has recorded, and what kvdump prints of it.
cp -r "$temporary/store" "$temporary/recorded"
"$products/storewriter" "$temporary/recorded" --history
"$python" Tests/Scripts/StoreReader/reader.py "$temporary/recorded" --history >"$temporary/history"
diff Tests/Scripts/StoreReader/history.jsonl "$temporary/history" || { echo "the history is another" >&2; exit 1; }
"$products/kvdump" history "$temporary/recorded" --format jsonl | "$python" -c '
import json, sys
lines = []
for line in sys.stdin:
  item = json.loads(line)
  if "transaction" in item:
    changes = [{"change": each["change"], "object": "/".join(each["object"].split("/")[-2:]),
                **{key: value for key, value in each.items() if key in ("properties", "tombstone")}}
               for each in item["changes"]]
    lines.append(json.dumps({"transaction": item["transaction"], "author": item["author"], "context": item["context"], "changes": changes}))
print("\n".join(reversed(lines)))
' | diff "$temporary/history" - || { echo "kvdump prints another history than the reader" >&2; exit 1; }
"$products/kvdump" verify "$temporary/recorded" >"$temporary/findings"
diff Tests/Scripts/StoreReader/findings.txt <(sed '$d' "$temporary/findings") || { echo "the findings are others" >&2; exit 1; }

# What is known of a remote service changes nothing but the objects that are not loaded in whole.
"$products/kvdump" dump "$temporary/store" --format jsonl | "$python" Tests/Scripts/KvdumpObjects/remote.py \
  | "$products/kvdump" load -o "$temporary/remote" - >/dev/null
"$python" Tests/Scripts/StoreReader/reader.py "$temporary/remote" >"$temporary/known"
diff <(sed -E '/Cat\/p6"/s/, "lives": 9//; s/("object": "Sample\/p9", "version": 1).*/\1}/' "$temporary/objects") "$temporary/known" \
  || { echo "the objects of a store over a service are others" >&2; exit 1; }

# The same without the row of Ann.
"$products/kvdump" dump "$temporary/store" --format jsonl | "$python" -c '
import json, sys
keyspace = None
for line in sys.stdin:
  item = json.loads(line)
  keyspace = item.get("name", keyspace)
  if keyspace != "table 7" or item.get("key") != {"integer": 1}:
    sys.stdout.write(line.replace("\"rows\":12,\"versions\":12", "\"rows\":11,\"versions\":11"))
' | "$products/kvdump" load -o "$temporary/damaged" >/dev/null
status=0
"$products/kvdump" verify "$temporary/damaged" >"$temporary/findings" || status=$?
[[ $status = 1 ]] || { echo "kvdump verify: status $status and not 1 for a row that is missing" >&2; exit 1; }
diff Tests/Scripts/StoreReader/damage.txt "$temporary/findings" || { echo "the damage is another" >&2; exit 1; }
echo "the reader sees the $(wc -l <"$temporary/objects") objects that were saved" >&2
