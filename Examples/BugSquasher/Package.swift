// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "BugSquasher",
  platforms: [.macOS(.v15)],
  targets: [.executableTarget(name: "BugSquasher")]
)

// Apple's platforms have their own Core Data, and Xcode compiles the model for it.
#if canImport(Darwin)
  package.targets[0].resources = [.process("BugSquasher.xcdatamodeld")]
#else
  package.dependencies = [.package(name: "Cairn", path: "../..")]
  package.targets[0].dependencies = [.product(name: "CoreData", package: "Cairn")]
  package.targets[0].resources = [.copy("BugSquasher.xcdatamodeld")]
#endif
