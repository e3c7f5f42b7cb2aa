#!/usr/bin/env bash
# What kvdump prints, letter by letter: help, a sound store, and each of the damaged ones.
#
#     KVDUMP_WRITE_GOLDEN=1 bash Tests/Scripts/KvdumpGolden/test.sh     writes what is expected anew, to be read in the diff
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
cd "$root"
golden=$PWD/Tests/Scripts/KvdumpGolden

need_products kvdump
kvdump=$products/kvdump
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cp -r Tests/Data/Damaged/* Tests/Data/Fixtures/{everything,retained,followed} "$temporary"
cd "$temporary"
export COLUMNS=100
failures=0
checked=0

# show ARGUMENT…: the command, what it says, and how it exits.
show() {
  local status=0
  printf '$ kvdump %s\n' "$*"
  "$kvdump" "$@" 2>"$temporary/.err" || status=$?
  sed 's/^/2> /' "$temporary/.err"
  printf '[%s]\n\n' "$status"
}

# compare NAME, with what is printed on standard input. Not at the end of a pipe, where it would count for itself.
compare() {
  cat >"$temporary/.out"
  checked=$((checked + 1))
  if [[ -n ${KVDUMP_WRITE_GOLDEN:-} ]]; then
    cp "$temporary/.out" "$golden/$1.txt"
  elif ! diff -u "$golden/$1.txt" "$temporary/.out" >&2; then
    echo "kvdump prints something else than Tests/Scripts/KvdumpGolden/$1.txt" >&2
    failures=$((failures + 1))
  fi
}

compare help < <(
  show --help
  for command in info stats keyspaces segments records hex get history scan verify diff tail dump load backup restore \
    compact salvage schema objects object import put delete drop rollback completions; do
    show "$command" --help
  done
)

compare sound < <(
  show info everything
  show info followed
  show info followed --format json
  show hex followed MANIFEST
  show records followed
  show keyspaces retained
  show segments retained
  show records everything --segment 4
  show hex everything 4
  show hex retained MANIFEST
  show get everything references '(1, "a")'
  show history retained rows 5
  show history retained rows 5 --log
  show scan everything counters --limit 3
  show scan everything references --prefix '("x")' --format json
  show tail everything -n 2
  show tail everything -n 1 --format jsonl
  show diff everything retained
  show dump everything counters --unnamed
  show dump retained rows --format jsonl
  show stats retained
)

for store in *; do
  [[ -d $golden/../../Data/Damaged/$store ]] || continue
  compare "$store" < <(
    for depth in quick checksums full; do show verify "$store" --depth "$depth"; done
    show verify "$store" --format json
    show info "$store"
    show segments "$store"
    show records "$store" --keyspace customers
    show salvage "$store" -o saved
    if [[ -d saved ]]; then
      show scan saved customers
      rm -r saved
    fi
  )
  diff -r "$golden/../../Data/Damaged/$store" "$store" >&2 || failures=$((failures + 1))
done

[[ $failures == 0 ]] || exit 1
echo "kvdump prints what is expected in $checked cases" >&2
