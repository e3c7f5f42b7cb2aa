// swift-tools-version: 6.2

import PackageDescription

// As in continuous integration. One build serves for the tests, too.
let areWarningsErrors = Context.environment["CAIRN_WARNINGS_AS_ERRORS"] == "1"
let features: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]
// For sources that targets share, too, whose imports may differ.
let sharedSettings =
  features + [.strictMemorySafety()] + (areWarningsErrors ? [.treatAllWarnings(as: .error)] : [])
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
    .target(name: "RowFormat", dependencies: ["CCairnPlatform", "Hashing"], swiftSettings: settings),
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

// Apple's platforms have a Core Data of their own. What is built on it there can be tested elsewhere, on a folder of
// Tests/AppleSide that stands for it: with Stub nothing but the two stores is there, with OpenCoreData everything is.
let standIn = Context.environment["CAIRN_APPLE_SIDE"]
#if canImport(Darwin)
  let isApple = true
#else
  let isApple = false
#endif
let hasOpenCoreData = !isApple && standIn != "Stub"

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

if !isEngineAlone {
  let coreData: [Target.Dependency] = isApple ? [] : hasOpenCoreData ? ["CoreData", "OpenCoreData"] : ["CoreData"]
  let isAppleSide = isApple || standIn != nil
  // What refers to what in Apple's models is unowned(unsafe), and each use of it would have to say so.
  let storeSettings =
    (isAppleSide ? features : settings) + (standIn == nil ? [] : [.treatAllWarnings(as: .error)])
  package.products += [
    .library(name: "IncrementalStore", targets: ["IncrementalStore"]),
    .library(name: "CairnIncrementalStore", targets: ["CairnIncrementalStore"]),
  ]
  package.targets += [
    .target(
      name: "IncrementalStore", dependencies: coreData + ["RowFormat"],
      exclude: [isAppleSide ? "OpenCoreData" : "AppleCoreData"], swiftSettings: storeSettings),
    .target(
      name: "CairnIncrementalStore", dependencies: coreData + ["Cairn", "CairnInspection", "IncrementalStore"],
      exclude: [hasOpenCoreData ? "AppleCoreData" : "OpenCoreData"], swiftSettings: storeSettings),
  ]
}

if !isApple && !isEngineAlone {
  // Apple's enumerations may get new cases, as those of a module with library evolution.
  let evolution: [SwiftSetting] =
    hasOpenCoreData ? [] : [.unsafeFlags(["-enable-library-evolution", "-suppress-warnings"])]
  package.targets.append(
    .target(
      name: "CoreData", dependencies: hasOpenCoreData ? ["OpenCoreData"] : [],
      path: standIn.map { "Tests/AppleSide/\($0)" },
      swiftSettings: (hasOpenCoreData ? settings : features) + evolution))
}

if hasOpenCoreData && !isEngineAlone {
  package.products += [
    .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
    .library(name: "CoreData", targets: ["CoreData"]),
    .executable(name: "modelgen", targets: ["modelgen"]),
    .executable(name: "catalogue", targets: ["catalogue"]),
  ]
  package.targets += [
    .target(name: "CObjectLifetime"),
    .target(name: "OpenCoreData", dependencies: ["CObjectLifetime", "Hashing"], swiftSettings: settings),
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

if standIn != nil {
  package.products.removeAll { $0 is Product.Executable }
  package.targets.removeAll {
    $0.type == .executable || $0.type == .test && !$0.name.hasSuffix("IncrementalStoreTests")
  }
}
