// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "RemoteHTTPTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Cairn", path: "../../..", traits: ["HTTP"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.34.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
  ],
  targets: [
    // The compiler warns of values that a page only makes.
    .target(
      name: "Pages",
      dependencies: [
        .product(name: "RemoteHTTP", package: "Cairn"), .product(name: "RemoteIncrementalStore", package: "Cairn"),
      ], swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),
    .testTarget(
      name: "RemoteHTTPTests",
      dependencies: [
        .product(name: "CoreData", package: "Cairn"), .product(name: "RemoteIncrementalStore", package: "Cairn"),
        .product(name: "RemoteHTTP", package: "Cairn"), .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
