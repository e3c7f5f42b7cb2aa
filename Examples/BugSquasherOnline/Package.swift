// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "BugSquasherOnline",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Cairn", path: "../..", traits: ["HTTP"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "bug-server",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "bugs",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CoreData", package: "Cairn"),
        .product(name: "RemoteHTTP", package: "Cairn"),
        .product(name: "RemoteIncrementalStore", package: "Cairn"),
      ],
      resources: [.copy("Bugs.xcdatamodeld")]),
  ],
  swiftLanguageModes: [.v6]
)
