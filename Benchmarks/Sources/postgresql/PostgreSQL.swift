#if PostgreSQL
  import ArgumentParser
  import Foundation
  import OpenCoreData
  import PostgreSQLIncrementalStore

  @main
  struct PostgreSQL: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "postgresql", abstract: "Measures a store in PostgreSQL beside statements that are written by hand.",
      subcommands: [Compare.self, Move.self, Transfers.self], defaultSubcommand: Compare.self)
  }

  struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Saves, faults in bulk, fetches by an index and transfers.",
      discussion: """
        The statements by hand write and read the same tables with the same guarantees, through libpq, with prepared \
        statements and arrays. Rounds of both take turns; the figures are medians, with the least and the most.
        """)

    @Argument(help: "The URI of a database, in which a namespace is made and removed in the end.")
    var address: String

    @Option(help: "Rounds.")
    var rounds = 9

    @Option(help: "Objects before the measurements.")
    var objects = 100_000

    @Option(help: "Processes that make transfers at once.")
    var processes = [1, 8]

    func validate() throws {
      guard rounds > 0, objects >= 10_000, objects >= 1000 * (rounds + 1) else {
        throw ValidationError("There are at least 10,000 objects, and 1,000 for each round.")
      }
    }

    func run() throws {
      let namespace = "benchmark \(ProcessInfo.processInfo.processIdentifier)"
      defer {
        if let url = NSPersistentStoreDescription.postgreSQL(address, namespace: namespace)?.url {
          try? PostgreSQLIncrementalStore.destroyPersistentStore(at: url, options: nil)
        }
      }
      let coordinator = try Shop.open(address, namespace).persistentStoreCoordinator
      let peer = try Peer(address, namespace: namespace)
      try Self.save(0..<objects, coordinator)
      try peer.run("ANALYZE")
      let sample = try Sample(peer, objects: objects)
      var next = objects
      try measure("save 1,000 new objects") {
        try Self.save(next..<next + 1000, coordinator)
        next += 1000
      } byHand: {
        try sample.save(1000, peer)
      }
      let ids = try Self.identifiers(coordinator).shuffled()
      var wanted = (0...rounds).map { NSPredicate(format: "SELF IN %@", Array(ids.dropFirst(1000 * $0).prefix(1000))) }
      try measure("1,000 faults in bulk") {
        try Self.fetch(wanted.removeLast(), coordinator, 1000)
      } byHand: {
        try sample.read(1000, peer)
      }
      try measure("fetch 50 by an index") {
        let first = Int.random(in: 0..<objects - 50)
        try Self.fetch(NSPredicate(format: "number >= %d AND number < %d", first, first + 50), coordinator, 50)
      } byHand: {
        try sample.search(50, peer)
      }
      _ = try Transfers.accounts(coordinator)
      for count in processes { try measureTransfers(count, namespace) }
    }

    // MARK: Measuring

    private func measure(_ title: String, _ store: () throws -> Void, byHand: () throws -> Void) throws {
      var times: [[Double]] = [[], []]
      for _ in 0..<rounds + 1 {
        times[0].append(try Self.milliseconds(store))
        times[1].append(try Self.milliseconds(byHand))
      }
      // The first round prepares statements.
      let (one, other) = (Figures(Array(times[0].dropFirst())), Figures(Array(times[1].dropFirst())))
      print("\(title): \(one) ms beside \(other) ms by hand, \(one.times(other)) times")
    }

    private func measureTransfers(_ count: Int, _ namespace: String) throws {
      var rates: [[Double]] = [[], []]
      for _ in 0..<3 {
        rates[0].append(try transfers(count, namespace, byHand: false))
        rates[1].append(try transfers(count, namespace, byHand: true))
      }
      let (one, other) = (Figures(rates[0]), Figures(rates[1]))
      let processes = count == 1 ? "1 process" : "\(count) processes"
      print("transfers a second, \(processes): \(one) beside \(other) by hand, \(one.times(other)) times")
    }

    private func transfers(_ count: Int, _ namespace: String, byHand: Bool) throws -> Double {
      let seconds = 3.0
      let workers = try (0..<count).map { _ in
        let worker = Process()
        worker.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        worker.arguments = ["transfers", address, namespace, "--seconds", "\(seconds)"] + (byHand ? ["--by-hand"] : [])
        let output = Pipe()
        worker.standardOutput = output
        try worker.run()
        return (worker, output)
      }
      let counts = workers.map { worker, output in
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        worker.waitUntilExit()
        return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
      }
      return counts.reduce(0, +) / seconds
    }

    private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
      let start = ContinuousClock.now
      try body()
      let time = (ContinuousClock.now - start).components
      return Double(time.seconds) * 1e3 + Double(time.attoseconds) / 1e15
    }

    // MARK: The store

    static func save(_ numbers: Range<Int>, _ coordinator: NSPersistentStoreCoordinator?) throws {
      for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10_000) {
        let context = Shop.context(coordinator)
        try context.performAndWait {
          for number in start..<min(start + 10_000, numbers.upperBound) {
            let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
            bug.setAttributeValue(Int64(number), forKey: "number")
            bug.setAttributeValue("Bug \(number) of many, with a title of the usual length", forKey: "title")
            bug.setAttributeValue(number % 3 == 0, forKey: "isOpen")
          }
          try context.save()
        }
      }
    }

    private static func identifiers(_ coordinator: NSPersistentStoreCoordinator?) throws -> [NSManagedObjectID] {
      let context = Shop.context(coordinator)
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Bug")
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
      }
    }

    private static func fetch(
      _ predicate: NSPredicate, _ coordinator: NSPersistentStoreCoordinator?, _ count: Int
    ) throws {
      let context = Shop.context(coordinator)
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
        (request.predicate, request.returnsObjectsAsFaults) = (predicate, false)
        let found = try context.fetch(request)
        guard found.count == count, found.allSatisfy({ ($0.attributeValue(forKey: "title") as String?) != nil }) else {
          throw ValidationError("A fetch has found \(found.count) objects.")
        }
      }
    }
  }

  /// The median of figures, with the least and the most.
  struct Figures: CustomStringConvertible {
    private let sorted: [Double]

    init(_ all: [Double]) { sorted = all.sorted() }

    private var median: Double { sorted[sorted.count / 2] }

    func times(_ other: Figures) -> String { String(format: "%.2f", median / other.median) }

    var description: String {
      let digits = median < 100 ? "%.2f (%.2f to %.2f)" : "%.0f (%.0f to %.0f)"
      return String(format: digits, median, sorted.first ?? 0, sorted.last ?? 0)
    }
  }
#else
  @main
  struct PostgreSQL {
    static func main() { print("Build with --traits PostgreSQL, or use Benchmarks/run postgresql.") }
  }
#endif
