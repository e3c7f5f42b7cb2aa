#!/usr/bin/env bash
# Processes are killed in the middle of writing: nothing they were told is there may be missing. And a sync is counted for each durable
# commit of one thread, and for each group of them with eight.
#
#   test.sh [--seconds N]    only kills, for so long
set -euo pipefail

seconds=0
if [[ ${1:-} == --seconds && ${2:-} =~ ^[0-9]+$ ]]; then
  seconds=$2
elif [[ $# -gt 0 ]]; then
  echo "KillNine: only --seconds N is understood" >&2
  exit 64
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

swift build --package-path "$here" --scratch-path "$root/.build-killnine" --configuration release --quiet
writer="$root/.build-killnine/release/Writer"

# The last line may be cut off: that number was not told to anybody.
acknowledged() { cat "$work"/acknowledged.* | grep -E '^[0-9]+$' || true; }

kills=0
checked=0
summary() { echo "$kills processes killed; all of $checked acknowledged commits were there"; }
trap 'summary; exit 130' INT
end=$((SECONDS + seconds))
for ((round = 1; round <= 6 || SECONDS < end; round++)); do
  if [[ $seconds -gt 0 && $SECONDS -ge $end ]]; then break; fi
  # A store that has been killed a few times makes room for a new one.
  if ((round % 40 == 0)); then rm -rf "$work"/store.*; fi
  durability=$([[ $((round % 2)) == 0 ]] && echo durable || echo buffered)
  store="$work/store.$durability"
  rm -f "$work"/acknowledged.*
  # There before the writer is, for the loop below.
  : >"$work/acknowledged.$round"
  "$writer" write "$store" "$durability" 3 100000000 >"$work/acknowledged.$round" &
  process=$!
  until [[ $(wc -l <"$work/acknowledged.$round") -ge 2000 ]]; do
    kill -0 "$process" 2>/dev/null || { echo "KillNine: the writer ended by itself" >&2; exit 1; }
  done
  kill -9 "$process"
  wait "$process" 2>/dev/null || true
  sed -i '$d' "$work/acknowledged.$round"
  count=$(acknowledged | "$writer" check "$store")
  kills=$((kills + 1))
  checked=$((checked + count))
  if [[ $seconds == 0 ]]; then echo "killed while writing $durability: all $count acknowledged commits are there"; fi
done
if [[ $seconds -gt 0 ]]; then
  summary
  exit 0
fi

if ! command -v strace >/dev/null || ! strace -f -o /dev/null true 2>/dev/null; then
  echo "KillNine: no strace here, syncs not counted" >&2
  exit 0
fi

syncs() {
  strace -f -c -e trace=fdatasync,fsync -o "$work/strace" "$writer" write "$work/$1" durable "$2" "$3" >/dev/null
  awk '$NF == "fdatasync" { print $4 }' "$work/strace"
}

one=$(syncs one 1 500)
[[ $one -ge 500 && $one -le 510 ]] || { echo "KillNine: $one syncs for 500 durable commits" >&2; exit 1; }
eight=$(syncs eight 8 500)
[[ $eight -ge 500 && $eight -le 2000 ]] || { echo "KillNine: $eight syncs for 4000 durable commits of eight threads" >&2; exit 1; }
echo "500 durable commits of one thread took $one syncs, 4000 of eight threads $eight"
