// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../../..")],
  targets: [
    .executableTarget(
      name: "Consumer", dependencies: [.product(name: "CoreData", package: "Cairn")], resources: [.copy("Models")]),
    .executableTarget(name: "Page", dependencies: [.product(name: "CoreData", package: "Cairn")]),
    .executableTarget(
      name: "Readme",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
      ]),
    .target(
      name: "Recipes",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
      ]),
    // The compiler warns of values that a page only makes.
    .target(
      name: "Pages",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "RemoteIncrementalStore", package: "Cairn"),
        .product(name: "RowStoreConformance", package: "Cairn"),
      ],
      swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),
    // The compiler warns of casts that Apple's platforms need and that have no effect here.
    .executableTarget(
      name: "Names", dependencies: [.product(name: "CoreData", package: "Cairn")],
      swiftSettings: [.swiftLanguageMode(.v5), .unsafeFlags(["-suppress-warnings"])]),
    .executableTarget(
      name: "Imports", dependencies: [.product(name: "CoreData", package: "Cairn")],
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
    .executableTarget(name: "Asynchronous", dependencies: [.product(name: "CoreData", package: "Cairn")]),
  ]
)
