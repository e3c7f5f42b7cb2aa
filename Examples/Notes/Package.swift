// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Notes",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../..")],
  targets: [
    .executableTarget(
      name: "Notes",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
      ],
      resources: [.copy("Notes.xcdatamodeld")])
  ]
)
