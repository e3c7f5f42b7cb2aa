// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "KvdumpLive",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../../..")],
  targets: [.executableTarget(name: "Writer", dependencies: ["Cairn"])]
)
