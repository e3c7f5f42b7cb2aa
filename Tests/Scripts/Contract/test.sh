#!/usr/bin/env bash
# The map of the contract: every test that Documentation/CONTRACT.md names exists, every part of the contract has a row,
# and every test of the contract is in the map. The promises of the engine: every promise of GUARANTEES.md and
# DURABILITY.md names tests that exist, and every number in a test is that of a promise that names the test.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
cd "$root/Tests"
status=0

problem() {
  echo "Contract: $*" >&2
  status=1
}

# The numbered parts of the contract.
parts="$(seq -f '0.%g' 12) $(seq -f '3.1.%g' 7) $(printf '3.2.%s ' {a..o}) $(seq -f '3.3.%g' 8) $(seq -f '3.4.%g' 20) $(seq -f '3.5.%g' 4)"

rows=$(grep -E '^\| [0-9]' ../Documentation/CONTRACT.md)
numbers=$(cut -d'|' -f2 <<<"$rows" | tr -d ' ')
repeated=$(sort <<<"$numbers" | uniq -d | tr '\n' ' ')
[[ -z $repeated ]] || problem "more than one row has the number $repeated"
for part in $parts; do
  grep -qE "^${part//./\\.}(\.[0-9]+)?$" <<<"$numbers" || problem "nothing says what becomes of $part"
done
for number in $numbers; do
  part=$(grep -oE '^(0\.[0-9]+|3\.[0-9]\.[0-9a-z]+)' <<<"$number")
  grep -qw -- "$part" <<<"$parts" || problem "$number is no part of the contract"
done

tested=0
waiting=0
without=0
named=$(mktemp)
trap 'rm -f "$named"' EXIT
while IFS='|' read -r _ number _ tests _; do
  case $tests in
    *" waits for: "?*) waiting=$((waiting + 1)); continue ;;
    *" no test: "?*) without=$((without + 1)); continue ;;
  esac
  tested=$((tested + 1))
  file=
  for word in $(grep -o '`[^`]*`' <<<"$tests" | tr -d '`'); do
    if [[ $word == *.swift ]]; then
      file=$word
      [[ -f $file ]] || file=CoreDataContractTests/$word
      [[ -f $file ]] || problem "$number: there is no file $word"
      continue
    fi
    # The function, after its attribute.
    [[ -f $file ]] && grep -qE "^ +(@MainActor )?func $word\(" "$file" || problem "$number: $file has no test $word"
    echo "$file $word" >>"$named"
  done
  [[ -n $file ]] || problem "$number: neither a test nor a reason why there is none"
done <<<"$rows"

# The tests of the contract that no statement names.
while read -r file function; do
  grep -qx "$file $function" "$named" || problem "$file: $function stands for no statement"
done < <(find CoreDataContractTests -name '*Tests.swift' | sort | while read -r file; do
  awk -v file="$file" '/@Test/ { test = 1 } test && match($0, /func [A-Za-z]+/) { print file, substr($0, RSTART + 5, RLENGTH - 5); test = 0 }' "$file"
done)

# The tests, as "SUITE/FUNCTION NUMBER": titles of tests begin with the number of the promise that they show.
tests=$(find . -name '*Tests.swift' -type f -exec awk '
  /@Test/ { test = 1; number = "" }
  test && match($0, /"[GD][0-9]+: /) { number = substr($0, RSTART + 1, RLENGTH - 3) }
  test && match($0, /func [A-Za-z0-9]+\(/) {
    suite = FILENAME; gsub(/.*\/|\.swift$/, "", suite)
    print suite "/" substr($0, RSTART + 5, RLENGTH - 6), number; test = 0
  }' {} +)

# The numbered promises of the engine, as "SUITE/FUNCTION NUMBER" for each test that they name.
promises=$(grep -hE '^\| [GD][0-9]+ ' ../Documentation/{GUARANTEES,DURABILITY}.md)
repeated=$(cut -d'|' -f2 <<<"$promises" | sort | uniq -d | tr -d '\n')
[[ -z $repeated ]] || problem "more than one promise has the number$repeated"
shown=
while read -r _ number row; do
  # The tests are in the last cell.
  row=${row%|}
  pairs=$(grep -oE '`[A-Za-z]+/[A-Za-z0-9]+`' <<<"${row##*|}" | tr -d '`') || problem "$number names no test"
  for pair in $pairs; do
    grep -q "^$pair " <<<"$tests" || problem "$number: there is no test $pair"
    shown+="$pair $number"$'\n'
  done
done <<<"$promises"

# The numbers in tests and elsewhere.
while read -r test number; do
  [[ -z $number ]] || grep -qx "$test $number" <<<"$shown" || problem "the promise $number does not name $test"
done <<<"$tests"
for number in $(grep -rhoE '[Pp]romise [GD][0-9]+' ../Sources ../Documentation . | cut -d' ' -f2 | sort -u); do
  grep -q " $number$" <<<"$shown" || problem "there is no promise $number"
done

[[ $status = 0 ]] || exit 1
echo "the promises: $(wc -l <<<"$promises"), shown by $(cut -d' ' -f1 <<<"$shown" | grep . | sort -u | wc -l) tests"
echo "the contract: $(wc -l <<<"$rows") statements, $tested of them tested by $(sort -u "$named" | wc -l) tests, $waiting waiting, $without that cannot be tested"
