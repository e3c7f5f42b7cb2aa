// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../..")],
  targets: [
    .executableTarget(
      name: "Consumer", dependencies: [.product(name: "CoreData", package: "Cairn")], resources: [.copy("Models")]),
    .executableTarget(name: "Page", dependencies: [.product(name: "CoreData", package: "Cairn")]),
    .executableTarget(
      name: "Readme",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
      ]),
    .executableTarget(name: "Asynchronous", dependencies: [.product(name: "CoreData", package: "Cairn")]),
  ]
)
