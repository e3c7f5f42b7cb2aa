#!/usr/bin/env bash
# A package that asks for the trait HTTP reads and changes the objects of a real server, and one that does not ask for it
# resolves nothing. The code of the module's catalogue compiles.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "the remote store does not exist on Apple's platforms"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -R "$here/Package.swift" "$here/Tests" "$work"
mkdir -p "$work/Sources/Pages"
code_as_function "$root/Sources/RemoteHTTP/RemoteHTTP.docc/RemoteHTTP.md" \
  "_ token: @escaping @Sendable (Bool) async throws -> String" >"$work/Sources/Pages/Pages.swift"
build_with_traits "$work" --build-tests
"$root/.build-traits/debug/RemoteHTTPTestsPackageTests.xctest" --testing-library swift-testing 2>&1 \
  | tee "$work/output" >&2
grep -q 'Test run with [1-9].* passed' "$work/output"

# Without the trait nothing of it is resolved.
mkdir -p "$work/plain/Sources/Plain"
cat >"$work/plain/Package.swift" <<PACKAGE
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "Plain", platforms: [.macOS(.v15)], dependencies: [.package(name: "Cairn", path: "$root")],
  targets: [.target(name: "Plain", dependencies: [.product(name: "RemoteHTTP", package: "Cairn")])])
PACKAGE
echo 'import RemoteHTTP' >"$work/plain/Sources/Plain/Plain.swift"
swift package resolve --package-path "$work/plain" --quiet >&2
grep -q swift-argument-parser "$work/plain/Package.resolved"
if grep -E 'async-http-client|swift-nio' "$work/plain/Package.resolved" >&2; then
  echo "a package without the trait HTTP resolves what only that trait needs" >&2
  exit 1
fi
echo "objects of a server are read and changed over HTTP"
