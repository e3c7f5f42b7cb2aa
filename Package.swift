// swift-tools-version: 6.2

import PackageDescription

// For sources that targets share, too, whose imports may differ.
let sharedSettings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]
let settings = sharedSettings + [.enableUpcomingFeature("MemberImportVisibility")]

let package = Package(
  name: "Cairn",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Cairn", targets: ["Cairn"]),
    .library(name: "CairnInspection", targets: ["CairnInspection"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4",
      providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .target(name: "CCairnPlatform"),
    .target(name: "Cairn", dependencies: ["CLZ4", "CCairnPlatform"], swiftSettings: settings),
    .target(name: "Hashing", swiftSettings: settings),
    .target(name: "RowFormat", dependencies: ["Hashing"], swiftSettings: settings),
    .target(name: "CairnInspection", dependencies: ["Cairn", "RowFormat"], swiftSettings: settings),
    .target(name: "CairnSimulation", dependencies: ["Cairn", "CairnInspection"], swiftSettings: settings),
    .executableTarget(
      name: "torture",
      dependencies: [
        "CairnSimulation", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/simulation", swiftSettings: settings),
    .target(name: "CForking", path: "Tests/CForking"),
    .testTarget(
      name: "CairnTests", dependencies: ["Cairn", "CairnInspection", "CairnSimulation", "CForking"],
      swiftSettings: settings),
    .testTarget(name: "RowFormatTests", dependencies: ["RowFormat"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// Modes that take long to build, and are for tests of the engine alone, leave the rest out.
let isEngineAlone = Context.environment["CAIRN_ENGINE_ALONE"] == "1"

// Apple's platforms have a Core Data of their own.
#if canImport(Darwin)
  let hasOpenCoreData = false
#else
  let hasOpenCoreData = true
#endif

if !isEngineAlone {
  package.products.append(.executable(name: "kvdump", targets: ["kvdump"]))
  package.targets.append(
    .executableTarget(
      name: "kvdump",
      dependencies: [
        "Cairn", "CairnInspection", "RowFormat",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (hasOpenCoreData ? ["CairnIncrementalStore", "OpenCoreData"] : []),
      path: "Tools/kvdump", swiftSettings: settings))
}

if hasOpenCoreData && !isEngineAlone {
  package.products += [
    .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "IncrementalStore", targets: ["IncrementalStore"]),
    .library(name: "CairnIncrementalStore", targets: ["CairnIncrementalStore"]),
    .executable(name: "modelgen", targets: ["modelgen"]),
    .executable(name: "catalogue", targets: ["catalogue"]),
  ]
  package.targets += [
    .target(name: "CObjectLifetime"),
    .target(name: "OpenCoreData", dependencies: ["CObjectLifetime", "Hashing"], swiftSettings: settings),
    .target(name: "CoreData", dependencies: ["OpenCoreData"], swiftSettings: settings),
    .target(name: "IncrementalStore", dependencies: ["OpenCoreData", "RowFormat"], swiftSettings: settings),
    .target(
      name: "CairnIncrementalStore", dependencies: ["Cairn", "CairnInspection", "IncrementalStore", "OpenCoreData"],
      swiftSettings: settings),
    .executableTarget(
      name: "modelgen",
      dependencies: [
        "OpenCoreData", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/modelgen", swiftSettings: settings),
    .executableTarget(
      name: "catalogue",
      dependencies: [
        "Cairn", "CLZ4", "CairnIncrementalStore", "CoreData",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/catalogue", exclude: ["Sample"], resources: [.copy("Objects/Catalogue.xcdatamodeld")],
      swiftSettings: settings),
    .testTarget(name: "CatalogueTests", dependencies: ["catalogue"], swiftSettings: settings),
    .executableTarget(
      name: "storewriter", dependencies: ["CairnIncrementalStore", "OpenCoreData"], path: "Tests/StoreReader/Writer",
      swiftSettings: settings),
    .testTarget(
      name: "OpenCoreDataTests",
      dependencies: ["OpenCoreData", "CoreData", "Hashing", "modelgen", "CairnIncrementalStore"],
      swiftSettings: settings),
    .testTarget(
      name: "StoreCrashTests", dependencies: ["Cairn", "CairnIncrementalStore", "OpenCoreData"],
      swiftSettings: settings),
    .testTarget(name: "CoreDataContractTests", dependencies: ["CoreData"], swiftSettings: settings),
    // Application code as it is, in the language mode that most of it is in.
    .testTarget(
      name: "SourceCompatibilityTests", dependencies: ["CoreData"], swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CairnIncrementalStoreTests", dependencies: ["Cairn", "CairnIncrementalStore", "CoreData", "RowFormat"],
      swiftSettings: settings),
    .testTarget(
      name: "IncrementalStoreTests",
      dependencies: ["CoreData", "Cairn", "IncrementalStore", "CairnIncrementalStore"],
      swiftSettings: sharedSettings),
  ]
}

// What OpenCoreData is to do is what Apple's framework does.
if !hasOpenCoreData && Context.environment["CAIRN_APPLE_CORE_DATA"] == "1" {
  package.targets.append(.testTarget(name: "CoreDataContractTests", swiftSettings: settings))
}
