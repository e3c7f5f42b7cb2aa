#if PostgreSQL
  import ArgumentParser
  import CairnIncrementalStore
  import Foundation
  import OpenCoreData
  import PostgreSQLIncrementalStore

  /// Moves a store from Cairn to PostgreSQL and back.
  struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Moves a store from Cairn to PostgreSQL and back, and compares the contents.")

    @Argument(help: "The URI of a database, in which a namespace is made and removed in the end.")
    var address: String

    @Option(help: "Objects.")
    var objects = 1_000_000

    func run() throws {
      let folder = URL.temporaryDirectory.appending(path: "move \(ProcessInfo.processInfo.processIdentifier)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      guard
        let there = NSPersistentStoreDescription.postgreSQL(
          address, namespace: "move \(ProcessInfo.processInfo.processIdentifier)")?.url
      else { throw ValidationError("\(address) is not a URI.") }
      defer {
        try? PostgreSQLIncrementalStore.destroyPersistentStore(at: there, options: nil)
        try? FileManager.default.removeItem(at: folder)
      }
      CairnIncrementalStore.register()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model)
      var store = try coordinator.addPersistentStore(
        type: .cairn, at: folder.appending(path: "before"), options: [CairnDurabilityOption: "buffered"])
      try Compare.save(0..<objects, coordinator)
      let before = try contents(coordinator)
      report("made", since: nil)
      for (name, url, type) in [
        ("to PostgreSQL", there, NSPersistentStore.StoreType.postgreSQL),
        ("back to Cairn", folder.appending(path: "after"), .cairn),
      ] {
        let start = ContinuousClock.now
        let progress = Progress(totalUnitCount: 1)
        progress.becomeCurrent(withPendingUnitCount: 1)
        store = try coordinator.migratePersistentStore(store, to: url, type: type)
        progress.resignCurrent()
        report("moved \(name)", since: start)
        guard try contents(coordinator) == before else { throw ValidationError("The contents differ.") }
        guard progress.isFinished else { throw ValidationError("The progress has not ended.") }
      }
      print("the contents are equal")
    }

    private func report(_ done: String, since start: ContinuousClock.Instant?) {
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let memory = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }?.split(separator: " ").dropFirst()
        .first
      let megabytes = (memory.flatMap { Int($0) } ?? 0) / 1024
      let time = start.map { " in \((ContinuousClock.now - $0).formatted(.units(allowed: [.seconds])))" } ?? ""
      print("\(done): \(objects) objects\(time), \(megabytes) MiB of memory at most so far")
    }

    /// A number that depends on the values of all objects, and not on their order.
    private func contents(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
      var sum = 0
      for start in stride(from: 0, to: objects, by: 10_000) {
        let context = Shop.context(coordinator)
        sum = try context.performAndWait {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
          request.predicate = NSPredicate(format: "number >= %d AND number < %d", start, start + 10_000)
          request.returnsObjectsAsFaults = false
          return try context.fetch(request).reduce(sum) { sum, bug in
            var hash = Hasher()
            for key in ["number", "title", "isOpen"] { hash.combine(bug.value(forKey: key) as? AnyHashable) }
            return sum &+ hash.finalize() &+ 1
          }
        }
      }
      return sum
    }
  }
#endif
