// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Jobs",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../..")],
  targets: [
    .executableTarget(
      name: "Jobs",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"), .product(name: "CairnFoundation", package: "Cairn"),
      ])
  ]
)
