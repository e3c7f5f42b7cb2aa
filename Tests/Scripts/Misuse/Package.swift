// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Misuse",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../../..")],
  targets: [
    .executableTarget(name: "Misuse", dependencies: [.product(name: "CoreData", package: "Cairn")])
  ]
)
