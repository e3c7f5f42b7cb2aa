// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "FeedReader",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../..")],
  targets: [
    .executableTarget(
      name: "FeedReader",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
      ],
      resources: [.copy("FeedReader.xcdatamodeld")])
  ]
)
