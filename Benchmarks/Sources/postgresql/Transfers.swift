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

    /// The same rows and entries, with the same guarantees.
    private func transfersByHand() throws -> Int {
      let peer = try Peer(address, namespace: namespace)
      var accounts: [Int64] = []
      try peer.run(#"SELECT cairn_reference FROM "Account""#, []) { result in
        accounts = (0..<Self.accounts).map { Peer.number(result, $0, 0) }
      }
      let end = ContinuousClock.now + .seconds(seconds)
      var count = 0
      while ContinuousClock.now < end {
        let (one, other) = Self.pair()
        do {
          try Self.transfer(peer, [accounts[one], accounts[other]])
          count += 1
        } catch let failure as Peer.Failure where ["40001", "40P01"].contains(failure.state) {
          try peer.rollBack()
        }
      }
      return count
    }

    private static func transfer(_ peer: Peer, _ accounts: [Int64]) throws {
      try peer.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
      var rows: [[UInt8]] = []
      try peer.run(
        #"SELECT cairn_bytes, balance FROM "Account" WHERE cairn_reference = ANY($1)"#, [.numbers(accounts)]
      ) { result in for row in 0..<2 { rows.append(Peer.value(result, row, 0)) } }
      try peer.run(
        """
        INSERT INTO cairn_saves (number, client, revision) VALUES ($1, $1, nextval('cairn_revisions'))
        """, [.uuid(UUID())])
      try peer.run(
        """
        UPDATE "Account" r SET cairn_bytes = n.bytes, balance = r.balance + n.amount,
          cairn_version = r.cairn_version + 1, cairn_revision = currval('cairn_revisions'), cairn_inexact = false
        FROM unnest($1, $2, $3) AS n (reference, bytes, amount) WHERE r.cairn_reference = n.reference
        """, [.numbers(accounts), .many(rows), .numbers([-1, 1])])
      let reference = Int64.random(in: .min ..< -1)
      try peer.run(
        """
        INSERT INTO "Transfer" (cairn_reference, cairn_bytes, cairn_version, cairn_revision, cairn_inexact,
          amount, source, destination) VALUES ($1, $2, 1, currval('cairn_revisions'), false, 1, $3, $4)
        """,
        [.int8(reference), .bytes([UInt8](repeating: 7, count: 24)), .int8(accounts[0]), .int8(accounts[1])])
      try peer.run(
        """
        INSERT INTO cairn_members (entry, relationship, owner, entity, member)
        SELECT n.entry, 1000000, n.owner, 1000000, $3 FROM unnest($1, $2) AS n (entry, owner)
        """,
        [
          .many(accounts.map { [0xFF, 0x7F] + withUnsafeBytes(of: ($0, reference)) { Array($0) } }), .numbers(accounts),
          .int8(reference),
        ])
      try peer.run("COMMIT")
    }
  }
#endif
