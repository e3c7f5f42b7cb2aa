// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Cairn", path: "../../..")],
  targets: [
    .executableTarget(name: "Consumer", dependencies: ["Cairn"]),
    .target(name: "Engine", dependencies: [.product(name: "CairnFoundation", package: "Cairn")]),
    .target(
      name: "Pages",
      dependencies: [
        .product(name: "CairnFoundation", package: "Cairn"), .product(name: "CairnInspection", package: "Cairn"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
