// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Bank",
  traits: [.trait(name: "PostgreSQL", description: "The store can be in a PostgreSQL database.")],
  dependencies: [
    .package(
      name: "Cairn", path: "../..", traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .systemLibrary(name: "CMalloc"),
    .executableTarget(
      name: "Bank",
      dependencies: [
        "CMalloc",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "CoreData", package: "Cairn"),
        .product(
          name: "PostgreSQLIncrementalStore", package: "Cairn", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      resources: [.copy("Bank.xcdatamodeld")]),
  ]
)
