import Cairn
import CairnSimulation
import Synchronization
import Testing

/// Money moves between accounts in batches that expect the sequences they have read. None is ever missing: to any
/// reader, after any crash, or after any opening.
@Suite struct BankConcurrencyTests {
  private static let accounts = (0..<12 as Range<Int64>).map { Key.tuple(["account", .integer($0)]) }
  private static let opening = 1000

  private static func balance(_ bytes: [UInt8]) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

  private static func bytes(_ balance: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: balance), UInt8(truncatingIfNeeded: balance >> 8)]
  }

  private static func check(_ balances: [Int], _ what: String) throws(Mismatch) {
    let sum = balances.reduce(0, +)
    guard balances.count == accounts.count, sum == accounts.count * opening else {
      throw Mismatch("\(what): \(balances.count) accounts with \(sum) in all")
    }
  }

  /// Checks the balances by every method that reads all accounts in one snapshot.
  private static func audit(_ snapshot: Snapshot, _ bank: Keyspace) throws {
    let together = try snapshot.get(many: accounts, in: bank)
    try check(together.compactMap { $0.map(balance) }, "get")
    try check(try snapshot.rows(in: bank).map { balance($0.value) }, "rows")
    var scanned: [Int] = []
    try snapshot.scan(in: bank, reverse: bank.order == .ordered) { _, value, _ in
      scanned.append(balance(value.array))
      return .next
    }
    try check(scanned, "scan")
    let alone = try accounts.compactMap { try snapshot.get($0, in: bank).map(balance) }
    try check(alone, "one by one")
    guard alone == together.map({ $0.map(balance) }) else { throw Mismatch("a snapshot has moved") }
  }

  @Test(arguments: [Keyspace.Order.ordered, .unordered]) func noMoneyIsLost(_ order: Keyspace.Order) throws {
    let seed = chooseSeed()
    let machine = Machine(seed: seed)
    let store = try machine.openThreaded()
    let bank = try store.keyspace("bank", order: order)
    try store.write { batch in
      for account in Self.accounts { try batch.put(Self.bytes(Self.opening), at: account, in: bank) }
    }
    let transfers = Atomic<Int>(0)
    let total = chooseRounds(20_000, debug: 1000)
    let isDone = Atomic<Bool>(false)

    let tellers = Threads()
    for teller in 1...3 as ClosedRange<UInt64> {
      tellers.start {
        var random = SplitMix64(seed: seed &+ teller)
        while transfers.load(ordering: .relaxed) < total {
          guard let from = Self.accounts.randomElement(using: &random),
            let to = Self.accounts.randomElement(using: &random), from != to,
            let source = try store.row(from, in: bank), let target = try store.row(to, in: bank)
          else { continue }
          let amount = min(Int.random(in: 1...300, using: &random), Self.balance(source.value))
          let durability: Durability = Int.random(in: 0..<8, using: &random) == 0 ? .durable : .buffered
          do {
            try store.write(durability: durability) { batch in
              try batch.put(
                Self.bytes(Self.balance(source.value) - amount), at: from, in: bank,
                expecting: .sequence(source.sequence))
              try batch.put(
                Self.bytes(Self.balance(target.value) + amount), at: to, in: bank,
                expecting: .sequence(target.sequence))
            }
            transfers.add(1, ordering: .relaxed)
          } catch let error as StoreError where error.code == .conflict {}
        }
      }
    }
    let auditors = Threads()
    for _ in 1...2 {
      auditors.start {
        repeat { try store.read { try Self.audit($0, bank) } } while !isDone.load(ordering: .acquiring)
      }
    }
    auditors.start { repeat { try store.checkpoint() } while !isDone.load(ordering: .acquiring) }
    // The power fails again and again on copies of the machine.
    auditors.start {
      var random = SplitMix64(seed: seed)
      repeat {
        let crashed = try machine.crash(using: &random).open()
        try crashed.read { try Self.audit($0, try crashed.keyspace("bank", order: order)) }
        try crashed.close()
      } while !isDone.load(ordering: .acquiring)
    }
    let outcome = Result { try tellers.join() }
    isDone.store(true, ordering: .releasing)
    try auditors.join()
    try outcome.get()

    // Each transfer has written two rows, and nothing else has overwritten a row: no update was lost.
    let rows = try store.read { try $0.rows(in: bank) }
    #expect(rows.reduce(0) { $0 + Int($1.version) - 1 } == 2 * transfers.load(ordering: .relaxed))
    try store.checkpoint()
    #expect(store.durableSequence == store.lastSequence)
    try store.close()
    #expect(store.statistics.olderVersions == 0)
    for next in [machine, machine.crash(), try machine.kill()] {
      let again = try next.open()
      let bank = try again.keyspace("bank", order: order)
      #expect(try Set(again.read { try $0.rows(in: bank) }) == Set(rows))
      try again.read { try Self.audit($0, bank) }
    }
  }
}
