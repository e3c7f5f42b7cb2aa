import CairnIncrementalStore
import CairnInspection
import CairnSimulation
import CoreData
@testable import IncrementalStore
import Testing

/// Compares migrated stores with an independent graph. `OPENCOREDATA_SEED` replays a failure, and
/// `OPENCOREDATA_PROGRAMS` sets the number of programs.
@Suite("Random migrations")
struct RandomMigrationTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test("After a migration over one or several versions, all objects are what they must be by both models.")
  func programs() throws {
    let seed = Self.environment["OPENCOREDATA_SEED"].flatMap { UInt64($0) } ?? .random(in: .min ... .max)
    let count = Self.environment["OPENCOREDATA_PROGRAMS"].flatMap { Int($0) } ?? 25
    print("OPENCOREDATA_SEED=\(seed)")
    for number in 0..<count {
      let own = seed &+ UInt64(number)
      let url = FileManager.default.temporaryDirectory.appending(path: "migrations \(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: url) }
      var program = Program(url: url, seed: own)
      do {
        try program.run()
      } catch {
        let steps = program.log.joined(separator: "\n")
        Issue.record("OPENCOREDATA_SEED=\(own) OPENCOREDATA_PROGRAMS=1: \(error)\n\(steps)")
        return
      }
    }
  }

  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  struct Program {
    let url: URL
    private var random: SplitMix64
    private var evolution: ModelEvolution
    private var graph = MigratedGraph()
    private(set) var log: [String] = []

    init(url: URL, seed: UInt64) {
      self.url = url
      random = SplitMix64(seed: seed)
      evolution = ModelEvolution(SplitMix64(seed: seed ^ 1))
    }

    mutating func run() throws {
      log.append("\(evolution.version.entities)")
      try work(evolution.version) { try $0.change($1, $2, &$3) }
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let former = evolution.version
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          if let change = evolution.change() { log.append(change) }
        }
        if Bool.random(using: &random), try !migratePartly(), Bool.random(using: &random) {
          log.append("goes on with the former model")
          try work(former) { try $0.change($1, $2, &$3) }
        }
        log.append("migrates")
        graph.migrate(to: evolution.version)
        try work(evolution.version) { _, _, _, _ in }
        try work(evolution.version) { try $0.change($1, $2, &$3) }
      }
      try work(evolution.version) { _, _, _, _ in }
    }

    /// Begins to migrate the store, and ends after some saves as if the process were killed.
    ///
    /// - Returns: Whether the store is migrated.
    private mutating func migratePartly() throws -> Bool {
      let saves = Int.random(in: 1...15, using: &random)
      log.append("begins to migrate, and ends after \(saves) saves")
      let rows = try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
      defer { try? rows.close() }
      do {
        _ = try StoreMigration(
          EndingRows(rows, after: saves), url, evolution.version.model, "PF_DEFAULT_CONFIGURATION_NAME",
          ValueCoder(coordinator: nil), step: Int.random(in: 1...5, using: &random)
        ).run()
        return true
      } catch let error as CocoaError where error.code == .userCancelled {
        return false
      }
    }

    /// Opens the store, compares it with the graph, changes both, and compares them again.
    private mutating func work(
      _ version: ModelVersion,
      _ change: (inout MigratedGraph, ModelVersion, NSManagedObjectContext, inout SplitMix64) throws -> Void
    ) throws {
      CairnIncrementalStore.register()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model)
      let store = try coordinator.addPersistentStore(
        type: .cairn, at: url,
        options: [
          CairnDurabilityOption: "buffered", NSMigratePersistentStoresAutomaticallyOption: true,
          NSInferMappingModelAutomaticallyOption: true,
          StoreMigration.stepOption: Int.random(in: 1...20, using: &random),
          BuildsIndexesFirstOption: Bool.random(using: &random),
        ])
      try compare(version, coordinator)
      var (changed, generator) = (graph, random)
      try Self.inContext(of: coordinator) { context in try change(&changed, version, context, &generator) }
      (graph, random) = (changed, generator)
      if Bool.random(using: &random) {
        log.append("compacts")
        try (store as? CairnIncrementalStore)?.compact()
      }
      try compare(version, coordinator)
      try coordinator.remove(store)
      // References to deleted objects, which relationships without inverses leave, are no damage.
      let damage = try Verifier(at: url.path).run().damage.map { "\($0)" }
      if !damage.isEmpty { throw Difference(description: damage.joined(separator: "\n")) }
    }

    private func compare(_ version: ModelVersion, _ coordinator: NSPersistentStoreCoordinator) throws {
      try Self.inContext(of: coordinator) { context in
        let differences = try graph.differences(version, context)
        if !differences.isEmpty { throw Difference(description: differences.joined(separator: "\n")) }
      }
    }

    private static func inContext<Result>(
      of coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait { try body(context) }
    }
  }
}
