// swift-tools-version: 6.2

import PackageDescription

// Continuous integration sets this for its tests, so that it needs no separate build.
let areWarningsErrors = Context.environment["CAIRN_WARNINGS_AS_ERRORS"] == "1"
let features: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]
// Without `MemberImportVisibility`, for sources that several targets share although their imports differ.
let sharedSettings =
  features + [.strictMemorySafety()] + (areWarningsErrors ? [.treatAllWarnings(as: .error)] : [])
let settings = sharedSettings + [.enableUpcomingFeature("MemberImportVisibility")]

let package = Package(
  name: "Cairn",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Cairn", targets: ["Cairn"]),
    .library(name: "CairnFoundation", targets: ["CairnFoundation"]),
    .library(name: "CairnInspection", targets: ["CairnInspection"]),
  ],
  traits: [
    .trait(name: "Bridges", description: "CairnBridges has contents: swift-log and swift-metrics."),
    .trait(
      name: "PostgreSQL", description: "PostgreSQLIncrementalStore has contents: a store in a database, with libpq."),
    .trait(name: "HTTP", description: "RemoteHTTP has contents: JSON over HTTP with async-http-client."),
  ],
  targets: [
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4",
      providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .target(name: "CCairnPlatform"),
    .target(name: "Cairn", dependencies: ["CLZ4", "CCairnPlatform"], swiftSettings: settings),
    .target(name: "CairnFoundation", dependencies: ["Cairn"], swiftSettings: settings),
    .target(name: "Hashing", swiftSettings: settings),
    .target(name: "RowFormat", dependencies: ["CCairnPlatform", "Hashing"], swiftSettings: settings),
    .target(name: "CairnInspection", dependencies: ["Cairn", "RowFormat"], swiftSettings: settings),
    .target(name: "CairnSimulation", dependencies: ["Cairn", "CairnInspection"], swiftSettings: settings),
    .target(name: "CForking", path: "Tests/Support/CForking"),
    .testTarget(
      name: "CairnTests",
      dependencies: ["Cairn", "CairnInspection", "CairnSimulation", "CForking", "RowFormat"],
      swiftSettings: settings),
    .testTarget(
      name: "CairnFoundationTests", dependencies: ["Cairn", "CairnFoundation", "CairnSimulation"],
      swiftSettings: settings),
    .testTarget(
      name: "RowFormatTests", dependencies: ["CairnInspection", "CairnSimulation", "RowFormat"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// Build modes that take long, and serve only for tests of the engine, leave out everything else.
let isEngineAlone = Context.environment["CAIRN_ENGINE_ALONE"] == "1"

// Apple's platforms have their own Core Data.
#if canImport(Darwin)
  let hasOpenCoreData = false
#else
  let hasOpenCoreData = true
#endif

if !isEngineAlone {
  package.dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"))
  package.products.append(.executable(name: "kvdump", targets: ["kvdump"]))
  package.targets += [
    .executableTarget(
      name: "kvdump",
      dependencies: [
        "Cairn", "CairnInspection", "RowFormat",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (hasOpenCoreData ? ["CairnIncrementalStore", "IncrementalStore", "OpenCoreData"] : []),
      path: "Tools/kvdump", swiftSettings: settings),
    .executableTarget(
      name: "torture",
      dependencies: [
        "CairnSimulation", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/simulation", swiftSettings: settings),
  ]
}

// Without the trait neither package is needed, and the module is empty.
if !isEngineAlone {
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
  ]
  package.products.append(.library(name: "CairnBridges", targets: ["CairnBridges"]))
  package.targets.append(
    .target(
      name: "CairnBridges",
      dependencies: [
        "Cairn", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Bridges"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Bridges"])),
      ],
      swiftSettings: settings))
}

if !isEngineAlone {
  let coreData: [Target.Dependency] = hasOpenCoreData ? ["CoreData", "OpenCoreData"] : []
  let otherSide = hasOpenCoreData ? "AppleCoreData" : "OpenCoreData"
  // In Apple's framework, references between the descriptions of a model are unowned(unsafe); strict memory safety
  // would require each use of them to be marked as unsafe.
  let storeSettings = hasOpenCoreData ? settings : features
  package.products += [
    .library(name: "IncrementalStore", targets: ["IncrementalStore"]),
    .library(name: "CairnIncrementalStore", targets: ["CairnIncrementalStore"]),
    .library(name: "RowStoreConformance", targets: ["RowStoreConformance"]),
  ]
  package.targets += [
    .target(
      name: "IncrementalStore", dependencies: coreData + ["RowFormat"], exclude: [otherSide],
      swiftSettings: storeSettings),
    .target(
      name: "CairnIncrementalStore", dependencies: coreData + ["Cairn", "CairnInspection", "IncrementalStore"],
      exclude: [otherSide], swiftSettings: storeSettings),
    .target(name: "RowStoreConformance", dependencies: ["IncrementalStore"], swiftSettings: settings),
  ]
}

if hasOpenCoreData && !isEngineAlone {
  package.products += [
    .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "RemoteIncrementalStore", targets: ["RemoteIncrementalStore"]),
    .executable(name: "modelgen", targets: ["modelgen"]),
    .executable(name: "catalogue", targets: ["catalogue"]),
  ]
  package.targets += [
    .target(name: "CObjectLifetime"),
    .target(name: "OpenCoreData", dependencies: ["CObjectLifetime", "Hashing"], swiftSettings: settings),
    .target(name: "CoreData", dependencies: ["OpenCoreData"], swiftSettings: settings),
    .target(
      name: "RemoteIncrementalStore",
      dependencies: ["Cairn", "CairnIncrementalStore", "CoreData", "IncrementalStore", "OpenCoreData", "RowFormat"],
      swiftSettings: settings),
    .testTarget(
      name: "RemoteIncrementalStoreTests",
      dependencies: [
        "Cairn", "CairnIncrementalStore", "CairnInspection", "CairnSimulation", "CoreData", "IncrementalStore",
        "OpenCoreData",
        "RemoteIncrementalStore",
      ],
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
      name: "storewriter", dependencies: ["CairnIncrementalStore", "OpenCoreData"],
      path: "Tests/Scripts/StoreReader/Writer", swiftSettings: settings),
    .executableTarget(
      name: "Misuse", dependencies: ["CoreData"], path: "Tests/Scripts/Misuse/Program", swiftSettings: settings),
    .target(name: "CHeap", path: "Tests/Support/CHeap"),
    .testTarget(
      name: "OpenCoreDataTests",
      dependencies: [
        "OpenCoreData", "CoreData", "Hashing", "modelgen", "CairnIncrementalStore", "CairnInspection",
        "CairnSimulation", "CHeap", "PostgreSQLIncrementalStore",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StoreCrashTests", dependencies: ["Cairn", "CairnIncrementalStore", "CairnSimulation", "OpenCoreData"],
      swiftSettings: settings),
    .testTarget(name: "CoreDataContractTests", dependencies: ["CoreData"], swiftSettings: settings),
    // Unchanged application code, in the language mode that most such code uses.
    .testTarget(
      name: "SourceCompatibilityTests", dependencies: ["CoreData"], swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CairnIncrementalStoreTests",
      dependencies: [
        "Cairn", "CairnInspection", "CairnIncrementalStore", "CairnSimulation", "CoreData", "RowFormat",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "IncrementalStoreTests",
      dependencies: [
        "CoreData", "Cairn", "CairnSimulation", "IncrementalStore", "CairnIncrementalStore",
        "PostgreSQLIncrementalStore",
      ],
      swiftSettings: sharedSettings),
    .testTarget(
      name: "RowStoreConformanceTests",
      dependencies: ["CairnIncrementalStore", "CForking", "IncrementalStore", "RowStoreConformance"],
      swiftSettings: settings),
  ]
}

// Without the trait no package is needed, and the module is empty.
if hasOpenCoreData && !isEngineAlone {
  let whenHTTP: TargetDependencyCondition? = .when(traits: ["HTTP"])
  package.dependencies += [
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.34.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
  ]
  package.products.append(.library(name: "RemoteHTTP", targets: ["RemoteHTTP"]))
  package.targets.append(
    .target(
      name: "RemoteHTTP",
      dependencies: [
        "CoreData", "OpenCoreData", "RemoteIncrementalStore",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: whenHTTP),
        .product(name: "NIOCore", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOPosix", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: whenHTTP),
      ],
      swiftSettings: settings))
}

// Without the trait nobody needs libpq, and the module is empty.
if hasOpenCoreData && !isEngineAlone {
  package.products.append(.library(name: "PostgreSQLIncrementalStore", targets: ["PostgreSQLIncrementalStore"]))
  package.targets += [
    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
      name: "PostgreSQLIncrementalStore",
      dependencies: [
        "CoreData", "IncrementalStore", "RowFormat",
        .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PostgreSQLIncrementalStoreTests",
      dependencies: [
        "CHeap", "CairnIncrementalStore", "CairnSimulation", "CoreData", "IncrementalStore",
        "PostgreSQLIncrementalStore", "RowStoreConformance",
      ],
      swiftSettings: settings),
  ]
}

// Runs the tests against Apple's framework, which defines what OpenCoreData must do.
if !hasOpenCoreData && Context.environment["CAIRN_APPLE_CORE_DATA"] == "1" {
  package.targets.append(.testTarget(name: "CoreDataContractTests", swiftSettings: settings))
}

// Build modes that take long, and serve only for some tests, name the targets of these tests; of a target that has many
// others, the files and folders that they need, too: `CAIRN_TESTS=CairnTests=Machine.swift Histories,RowFormatTests`.
if let choice = Context.environment["CAIRN_TESTS"] {
  let chosen = choice.split(separator: ",").map { $0.split(separator: "=") }
  package.products.removeAll { $0 is Product.Executable }
  package.targets.removeAll { target in
    target.type == .executable && target.name != "modelgen"
      || target.type == .test && !chosen.contains { $0[0] == target.name }
  }
  for target in package.targets {
    guard let parts = chosen.first(where: { $0[0] == target.name }), parts.count == 2 else { continue }
    target.sources = parts[1].split(separator: " ").map(String.init)
  }
}

// Only tests that compute for minutes gain from being optimised, which takes minutes itself.
if let name = Context.environment["CAIRN_UNOPTIMIZED_TESTS"] {
  for target in package.targets where target.name == name {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"])]
  }
}
