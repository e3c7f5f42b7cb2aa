// swift-tools-version: 6.2

import PackageDescription

// The two stores as they are on Apple's platforms, and their tests: the folders are links to those of the main package.
// `CAIRN_CORE_DATA` names what stands in for Apple's framework: with Stub, which has the signatures alone, only the
// stores are built; with OpenCoreData, the public interface of OpenCoreData, everything is.
let standIn = Context.environment["CAIRN_CORE_DATA"] ?? "Stub"
let isStub = standIn == "Stub"

let features: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]
let shared = features + [.strictMemorySafety()]
let settings = shared + [.enableUpcomingFeature("MemberImportVisibility")]
let storeSettings = features + [.treatAllWarnings(as: .error)]

let package = Package(
  name: "AppleSide",
  targets: [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
    .target(name: "CCairnPlatform"),
    .target(name: "Cairn", dependencies: ["CLZ4", "CCairnPlatform"], swiftSettings: settings),
    .target(name: "Hashing", swiftSettings: settings),
    .target(name: "RowFormat", dependencies: ["CCairnPlatform", "Hashing"], swiftSettings: settings),
    .target(name: "CairnInspection", dependencies: ["Cairn", "RowFormat"], swiftSettings: settings),
    .target(name: "CairnSimulation", dependencies: ["Cairn", "CairnInspection"], swiftSettings: settings),
    .target(
      name: "IncrementalStore", dependencies: ["CoreData", "RowFormat"], exclude: ["OpenCoreData"],
      swiftSettings: storeSettings),
    .target(
      name: "CairnIncrementalStore", dependencies: ["CoreData", "Cairn", "CairnInspection", "IncrementalStore"],
      exclude: [isStub ? "OpenCoreData" : "AppleCoreData"], swiftSettings: storeSettings),
  ],
  swiftLanguageModes: [.v6]
)

if isStub {
  // Library evolution, so that enumerations may get new cases, as Apple's may.
  package.targets.append(
    .target(
      name: "CoreData", path: "Stub",
      swiftSettings: features + [.unsafeFlags(["-enable-library-evolution", "-suppress-warnings"])]))
} else {
  package.targets += [
    .target(name: "CObjectLifetime"),
    .target(name: "OpenCoreData", dependencies: ["CObjectLifetime", "Hashing"], swiftSettings: settings),
    .target(name: "CoreData", dependencies: ["OpenCoreData"], path: "OpenCoreData", swiftSettings: settings),
    .testTarget(
      name: "CairnIncrementalStoreTests",
      dependencies: [
        "Cairn", "CairnInspection", "CairnIncrementalStore", "CairnSimulation", "CoreData", "RowFormat",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "IncrementalStoreTests",
      dependencies: ["CoreData", "Cairn", "CairnSimulation", "IncrementalStore", "CairnIncrementalStore"],
      swiftSettings: shared),
  ]
}
