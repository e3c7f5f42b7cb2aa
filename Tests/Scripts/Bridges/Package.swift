// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Bridged",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Cairn", path: "../../..", traits: ["Bridges"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "Bridged",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"), .product(name: "CairnBridges", package: "Cairn"),
        .product(name: "Logging", package: "swift-log"), .product(name: "MetricsTestKit", package: "swift-metrics"),
      ]),
    .target(
      name: "Pages",
      dependencies: [
        .product(name: "CairnBridges", package: "Cairn"), .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
