// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  traits: [.trait(name: "PostgreSQL", description: "There is the benchmark of stores in PostgreSQL.")],
  dependencies: [
    .package(
      name: "Cairn", path: "..", traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CLevelDB",
      providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]),
    .systemLibrary(
      name: "CRocksDB", pkgConfig: "rocksdb",
      providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CLMDB", "CLevelDB", "CRocksDB", "CSQLite",
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "upkeep",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "opening",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// Apple's platforms have their own Core Data.
#if !canImport(Darwin)
  package.targets += [
    .systemLibrary(name: "CMalloc"),
    .executableTarget(name: "predicates", dependencies: [.product(name: "OpenCoreData", package: "Cairn")]),
    .executableTarget(
      name: "objects",
      dependencies: [
        "CMalloc",
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "stored",
      dependencies: [
        "CMalloc",
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "batches",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "migrations",
      dependencies: [
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "history",
      dependencies: [
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "changes",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "readers",
      dependencies: [
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "remote",
      dependencies: [
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "RemoteIncrementalStore", package: "Cairn"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .executableTarget(
      name: "postgresql",
      dependencies: [
        .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(
          name: "PostgreSQLIncrementalStore", package: "Cairn", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .target(
      name: "Comparing",
      dependencies: [
        "CMalloc",
        .product(name: "CairnIncrementalStore", package: "Cairn"),
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], path: "Sources/comparing"),
    .executableTarget(
      name: "graph",
      dependencies: [
        "CMalloc", "Comparing",
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "issues",
      dependencies: [
        "Comparing",
        .product(name: "OpenCoreData", package: "Cairn"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ]
#endif
