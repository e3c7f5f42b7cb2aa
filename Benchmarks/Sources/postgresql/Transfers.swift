#if PostgreSQL
  import ArgumentParser
  import Foundation
  import OpenCoreData
  import PostgreSQLIncrementalStore

  /// One process that moves money, by the store or by hand.
  struct Transfers: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Moves money for some seconds, and prints how often.", shouldDisplay: false)

    static let accounts = 100

    @Argument var address: String
    @Argument var namespace: String
    @Option var seconds = 3.0
    @Flag var byHand = false

    func run() throws {
      print(try byHand ? transfersByHand() : transfers())
    }

    private func transfers() throws -> Int {
      let coordinator = try Shop.open(address, namespace).persistentStoreCoordinator
      let accounts = try Self.accounts(coordinator)
      let end = ContinuousClock.now + .seconds(seconds)
      var count = 0
      while ContinuousClock.now < end {
        let context = Shop.context(coordinator)
        context.stalenessInterval = 0
        let (one, other) = Self.pair()
        do {
          try context.performAndWait {
            let (source, destination) = (context.object(with: accounts[one]), context.object(with: accounts[other]))
            for (account, amount) in [(source, Int64(-1)), (destination, 1)] {
              account.setValue((account.value(forKey: "balance") as? Int64 ?? 0) + amount, forKey: "balance")
            }
            let transfer = NSEntityDescription.insertNewObject(forEntityName: "Transfer", into: context)
            transfer.setValue(1, forKey: "amount")
            transfer.setValue(source, forKey: "source")
            transfer.setValue(destination, forKey: "destination")
            try context.save()
          }
          count += 1
        } catch let error as NSError where error.code == NSManagedObjectMergeError {
          continue
        }
      }
      return count
    }

    /// Two different accounts.
    static func pair() -> (Int, Int) {
      let one = Int.random(in: 0..<accounts)
      return (one, (one + .random(in: 1..<accounts)) % accounts)
    }

    static func accounts(_ coordinator: NSPersistentStoreCoordinator?) throws -> [NSManagedObjectID] {
      let context = Shop.context(coordinator)
      return try context.performAndWait {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Account")
        request.resultType = .managedObjectIDResultType
        let found = try context.fetch(request)
        guard found.isEmpty else { return found }
        let made = (0..<accounts).map { _ in
          NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
        }
        for account in made { account.setValue(1_000_000, forKey: "balance") }
        try context.save()
        return made.map(\.objectID)
      }
    }

    // MARK: By hand

    /// The same rows and entries, of the same sizes, with the same guarantees.
    private func transfersByHand() throws -> Int {
      let peer = try Peer(address, namespace: namespace)
      var accounts: [(entity: [UInt8], reference: [UInt8])] = []
      let entity = try Self.number(of: "Account", peer)
      try peer.run("SELECT reference FROM cairn_rows WHERE entity = $1", [.int4(entity)]) { result in
        for row in 0..<Self.accounts { accounts.append(([], Peer.value(result, row, 0))) }
      }
      let end = ContinuousClock.now + .seconds(seconds)
      var count = 0
      while ContinuousClock.now < end {
        let (one, other) = Self.pair()
        do {
          try Self.transfer(peer, entity, [accounts[one].reference, accounts[other].reference])
          count += 1
        } catch let failure as Peer.Failure where ["40001", "40P01"].contains(failure.state) {
          try peer.rollBack()
        }
      }
      return count
    }

    private static func transfer(_ peer: Peer, _ entity: Int32, _ accounts: [[UInt8]]) throws {
      try peer.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
      var rows: [[UInt8]] = []
      try peer.run(
        "SELECT bytes FROM cairn_rows WHERE entity = $1 AND reference = ANY($2)", [.int4(entity), .many(accounts)]
      ) { result in for row in 0..<2 { rows.append(Peer.value(result, row, 0)) } }
      try peer.run(
        "INSERT INTO cairn_saves (number, revision) VALUES ($1, nextval('cairn_revisions'))", [.uuid(UUID())])
      try peer.run(
        """
        UPDATE cairn_rows r SET bytes = n.bytes, version = r.version + 1, revision = r.revision + 1
        FROM unnest($2, $3) AS n (reference, bytes) WHERE r.entity = $1 AND r.reference = n.reference
        """, [.int4(entity), .many(accounts), .many(rows)])
      let reference = [0x40] + withUnsafeBytes(of: UUID().uuid) { Array($0) }
      try peer.run(
        "INSERT INTO cairn_rows (entity, reference, bytes, version, revision) VALUES (1000000, $1, $2, 1, 1)",
        [.bytes(reference), .bytes([UInt8](repeating: 7, count: 24))])
      try peer.run(
        "INSERT INTO cairn_entries (head, tail) SELECT e, '' FROM unnest($1) AS n (e)",
        [.many(accounts.map { [0xFF, 0x7F] + $0 + reference })])
      try peer.run("COMMIT")
    }

    /// The number of an entity: the table that has as many rows as there are accounts.
    private static func number(of name: String, _ peer: Peer) throws -> Int32 {
      var number: Int32 = 0
      try peer.run(
        "SELECT entity FROM cairn_rows GROUP BY entity HAVING count(*) = $1 ORDER BY entity LIMIT 1",
        [.int8(Int64(accounts))]
      ) { result in number = Peer.value(result, 0, 0).reduce(0) { $0 << 8 | Int32($1) } }
      return number
    }
  }
#endif
