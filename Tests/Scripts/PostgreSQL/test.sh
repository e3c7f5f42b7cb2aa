#!/usr/bin/env bash
# Stores in a PostgreSQL server, which is started for this and stopped again, keep Core Data's contract with a store. A
# package that does not ask for the trait PostgreSQL does not need libpq.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
source "$here/server"
[[ $(uname) != Darwin ]] || { echo "the store does not exist on Apple's platforms"; exit 0; }
work=$(mktemp -d)
trap 'stop_postgresql; rm -rf "$work"' EXIT

start_postgresql
export CAIRN_POSTGRESQL_CRASH=$here/crash
export CAIRN_TESTS=IncrementalStoreTests,PostgreSQLIncrementalStoreTests
options=(--traits PostgreSQL --package-path "$root" --scratch-path "$root/.build-postgresql")
run_tests() {
  swift test --skip-build --experimental-maximum-parallelization-width "$((2 * $(nproc)))" "${options[@]}" "$@" 2>&1 \
    | tee "$work/output" >&2
  grep -q 'Test run with [1-9].* passed' "$work/output"
}

swift build --build-tests --quiet "${options[@]}" >&2
run_tests --skip KilledProcessTests/server
# Alone, since the others need the server.
run_tests --filter KilledProcessTests/server
echo "stores in PostgreSQL keep Core Data's contract"
