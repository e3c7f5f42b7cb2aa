// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "NSHipster",
  platforms: [.macOS(.v15)],
  targets: [.executableTarget(name: "NSHipster")]
)

// Apple's platforms have their own Core Data, and Xcode compiles the model for it.
#if canImport(Darwin)
  package.targets[0].resources = [.process("Articles.xcdatamodeld")]
#else
  package.dependencies = [.package(name: "Cairn", path: "../..")]
  package.targets[0].dependencies = [.product(name: "CoreData", package: "Cairn")]
  package.targets[0].resources = [.copy("Articles.xcdatamodeld")]
#endif
