// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "FieldLog",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../..")],
  targets: [
    .executableTarget(
      name: "FieldLog",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
      ],
      resources: [.copy("FieldLog.xcdatamodeld")])
  ]
)
