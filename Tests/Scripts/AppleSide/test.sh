#!/usr/bin/env bash
# What the stores are on Apple's platforms: it compiles against a stub of Apple's signatures, without a warning; and on
# the public interface of OpenCoreData it passes the tests of the stores.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }
need_swift
need_lz4
cd "$root/Tests/Scripts/AppleSide"

# Both builds share the modules that do not use Core Data. A cached manifest would be that of the other build.
options=(--disable-build-manifest-caching --scratch-path "$root/.build-apple-side" -debug-info-format none --quiet)
CAIRN_CORE_DATA=Stub swift build "${options[@]}" --target CairnIncrementalStore
# Apple's dictionaries have an identifier only by an expression description, Apple's merges do not tell stores which rows
# are stale, Apple's coordinators do not ask stores for the former names of entities, Apple's contexts are pinned to no
# states of incremental stores, know the versions of rows, not their revisions, have no history of these stores, and read
# the row of a fault before its relationships.
CAIRN_CORE_DATA=OpenCoreData swift test "${options[@]}" \
  --skip ObjectKeyTests/dictionaries --skip StaleRowTests --skip MigrationTests/formerURIs \
  --skip QueryGenerationTests --skip ConflictTests/aRowInsertedAgain --skip TouchTests/history \
  --skip UnreadMemberTests/fault
echo "the stores compile for Apple's platforms, and pass their tests with what is written for these"
