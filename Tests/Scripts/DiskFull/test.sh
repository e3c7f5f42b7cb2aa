#!/usr/bin/env bash
# Fills a small real file system. Needs to mount one, so it is left out where that is not allowed.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
cd "$root"

work=$(mktemp -d)
trap 'umount "$work/ext4" "$work/tmpfs" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/ext4" "$work/tmpfs"

kinds=()
truncate -s 24M "$work/image"
if mkfs.ext4 -q "$work/image" 2>/dev/null && mount -o loop "$work/image" "$work/ext4" 2>/dev/null; then kinds+=(ext4); fi
if mount -t tmpfs -o size=16m tmpfs "$work/tmpfs" 2>/dev/null; then kinds+=(tmpfs); fi
if [[ ${#kinds[@]} -eq 0 ]]; then
  say "no file system can be mounted here: left out"
  exit 0
fi
# The stores of objects, which take minutes, on one file system only.
tests=SmallDiskTests
for kind in "${kinds[@]}"; do
  say "a full $kind"
  CAIRN_SMALL_DISK="$work/$kind" swift test --no-parallel ${CAIRN_PRODUCTS:+--skip-build} --filter "$tests"
  tests=CairnTests.SmallDiskTests
done
