#!/usr/bin/env bash
# Processes are killed in the middle of writing: nothing they were told is there may be missing. Some of them only put; others
# do everything at once: batches, deletions, older versions kept, a keyspace dropped and made again, snapshots, checkpoints and
# compaction, on threads of their own. Of these each thread has to have left exactly what it was told, or that and the operation
# it was killed in; and kvdump has to find nothing wrong with the store as it was left.
#
# And a sync is counted for each durable commit of one thread, and for each group of them with eight.
#
#   test.sh [--seconds N] [--plain | --busy] [--seed N]    only kills, for so long; of both kinds in turn unless said
set -euo pipefail

seconds=0
kinds=(plain busy)
seed=$RANDOM
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) [[ ${2:-} =~ ^[0-9]+$ ]] && seconds=$2 || { echo "KillNine: --seconds needs a number" >&2; exit 64; }; shift 2 ;;
    --seed) [[ ${2:-} =~ ^[0-9]+$ ]] && seed=$2 || { echo "KillNine: --seed needs a number" >&2; exit 64; }; shift 2 ;;
    --plain | --busy) kinds=("${1#--}"); shift ;;
    --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "KillNine: only --seconds N, --seed N, --plain and --busy are understood" >&2; exit 64 ;;
  esac
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build_consumer "$here" --configuration release
writer="$root/.build-consumer/release/Writer"
if [[ ${kinds[*]} == *busy* ]]; then
  swift build --package-path "$root" --configuration release --product kvdump --quiet >&2
  kvdump="$root/.build/release/kvdump"
fi

kills=0
checked=0
summary() { echo "$kills processes killed; all of $checked acknowledged commits were there"; }
trap 'summary; exit 130' INT
fail() {
  echo "KillNine: $*" >&2
  exit 1
}

# start FILE ARGUMENT…: runs a writer, whose acknowledgements go to the file; there before the writer is, for who counts its lines.
start() {
  local file=$1
  shift
  : >"$file"
  "$writer" "$@" >"$file" &
  process=$!
}

# kill_after LINES SECONDS FILE: kills it once so much has been acknowledged, and then some time has passed.
kill_after() {
  until [[ $(wc -l <"$3") -ge $1 ]]; do
    kill -0 "$process" 2>/dev/null || fail "the writer ended by itself"
  done
  sleep "$2"
  kill -9 "$process" 2>/dev/null || fail "the writer ended by itself"
  wait "$process" 2>/dev/null || true
  kills=$((kills + 1))
}

# The last line may be cut off: that number was not told to anybody.
acknowledged() { cat "$work"/acknowledged.* | grep -E '^[0-9]+$' || true; }

plain() {
  local durability store count
  # A store that has been killed a few times makes room for a new one.
  if (($1 % 40 == 0)); then rm -rf "$work"/store.*; fi
  durability=$([[ $(($1 % 2)) == 0 ]] && echo durable || echo buffered)
  store="$work/store.$durability"
  rm -f "$work"/acknowledged.*
  start "$work/acknowledged.$1" write "$store" "$durability" 3 100000000
  kill_after 2000 0 "$work/acknowledged.$1"
  sed -i '$d' "$work/acknowledged.$1"
  count=$(acknowledged | "$writer" check "$store")
  checked=$((checked + count))
  if [[ $seconds == 0 ]]; then echo "killed while writing $durability: all $count acknowledged commits are there"; fi
}

# Where each thread of a busy process goes on, and what decides what it does.
next=(0 0 0 0)
own=$seed

busy() {
  local store="$work/busy" found
  if (($1 % 12 == 0)); then
    rm -rf "$store"
    next=(0 0 0 0)
    own=$((own + 1))
  fi
  start "$work/busy.lines" busy "$store" "$own" "${next[@]}"
  kill_after 500 "$((RANDOM % 2)).$((RANDOM % 10))" "$work/busy.lines"
  "$kvdump" verify "$store" >"$work/verify" 2>&1 || { cat "$work/verify" >&2; keep "$store"; fail "kvdump finds damage"; }
  found=$("$writer" check-busy "$store" "$own" "${next[@]}" <"$work/busy.lines") || { keep "$store"; fail "seed $own"; }
  read -ra found <<<"$found"
  next=("${found[@]:0:4}")
  checked=$((checked + found[4]))
  if [[ $seconds == 0 ]]; then
    echo "killed while doing everything at once: what ${found[4]} acknowledged commits have left is there, and sound"
  fi
}

# The store in which something was wrong, for whoever looks into it.
keep() {
  local kept
  kept=$(mktemp -d)
  cp -r "$1" "$work/busy.lines" "$kept"
  echo "KillNine: the store and what was acknowledged are in $kept, which went on from ${next[*]}" >&2
}

end=$((SECONDS + seconds))
rounds=$((${#kinds[@]} == 2 ? 10 : 6))
for ((round = 1; seconds > 0 || round <= rounds; round++)); do
  if [[ $seconds -gt 0 && $SECONDS -ge $end ]]; then break; fi
  if [[ ${#kinds[@]} == 1 ]]; then
    "${kinds[0]}" "$round"
  elif ((round % 5 < 3 )); then
    plain "$round"
  else
    busy "$round"
  fi
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
