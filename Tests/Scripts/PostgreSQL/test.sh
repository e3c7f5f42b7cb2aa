#!/usr/bin/env bash
# Stores in a PostgreSQL server, which is started for this and stopped again, keep Core Data's contract with a store, and
# lose nothing that was acknowledged when processes or the server are killed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
source "$here/server"
[[ $(uname) != Darwin ]] || { echo "the store does not exist on Apple's platforms"; exit 0; }
work=$(mktemp -d)
trap 'stop_postgresql; rm -rf "$work"' EXIT

start_postgresql
export CAIRN_POSTGRESQL_CRASH=$here/crash
tests=.build
# Tools/test --all has built all tests with the trait.
if [[ ${CAIRN_TRAITS:-} != PostgreSQL ]]; then
  tests=.build-postgresql
  CAIRN_TESTS=IncrementalStoreTests,PostgreSQLIncrementalStoreTests swift build --build-tests --quiet \
    --traits PostgreSQL --package-path "$root" --scratch-path "$root/$tests" >&2
fi
run_tests() {
  "$root/$tests/debug/CairnPackageTests.xctest" --testing-library swift-testing \
    --experimental-maximum-parallelization-width "$((2 * $(nproc)))" "$@" 2>&1 | tee "$work/output" >&2
  grep -q 'Test run with [1-9].* passed' "$work/output"
}

alone='KilledProcessTests|PostgreSQLIncrementalStoreTests\.MemoryTests'
run_tests --filter '^(PostgreSQL)?IncrementalStoreTests\.' --skip "$alone"
# A server that has been killed syncs all its files when it starts, and those tests have made many.
stop_postgresql
start_postgresql
# One after the other: some kill the server that the others need, and others wait for every transaction on it.
run_tests --no-parallel --filter "$alone"

# Three processes that serve one database, killed together under load.
build_with_traits "$root/Examples/Bank" --traits PostgreSQL --product Bank
"$root/.build-traits/debug/Bank" crash "$CAIRN_POSTGRESQL" --services 3 --kills 2 --transfers 100 --connections 4 >&2
# The database, too, in the middle of each round.
"$root/.build-traits/debug/Bank" crash "$CAIRN_POSTGRESQL" --services 3 --kills 2 --transfers 200 --connections 4 \
  --database-crash "'$CAIRN_POSTGRESQL_CRASH' '$postgresql_folder'" >&2
echo "stores in PostgreSQL keep Core Data's contract"
