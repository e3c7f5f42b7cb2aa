import Cairn
import CairnSimulation
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Readers of a store that is being refreshed, beside a writer that compacts and opens the store again.
@Suite(.timeLimit(.minutes(30))) struct RefreshConcurrencyTests {
  /// Accounts between which money is moved, and rows that come and go with it: after each commit the sum is the same,
  /// and there is one row for each account with an odd number of transfers.
  struct Accounts {
    static let count: Int64 = 40
    static let sum = 4000

    let store: Store
    let accounts: Keyspace
    let odd: Keyspace

    init(_ store: Store) throws {
      self.store = store
      accounts = try store.keyspace("accounts")
      odd = try store.keyspace("odd", order: .unordered)
    }

    static func options(_ access: StoreOptions.Access) -> StoreOptions {
      var options = StoreOptions()
      options.segmentSize = 1 << 16
      options.access = access
      return options
    }

    func found() throws {
      try store.write { batch in
        for account in 0..<Self.count { try batch.put(Self.value(100, 0), at: .integer(account), in: accounts) }
      }
    }

    /// A balance, a number of transfers, and bytes that fill segments.
    private static func value(_ balance: Int, _ transfers: Int) -> [UInt8] {
      unsafe withUnsafeBytes(of: (balance, transfers)) { unsafe Array($0) } + .noise(150, seed: UInt64(transfers))
    }

    private static func read(_ value: [UInt8]) -> (balance: Int, transfers: Int) {
      unsafe value.withUnsafeBytes { unsafe $0.loadUnaligned(as: (Int, Int).self) }
    }

    func transfer(_ random: inout SplitMix64) throws {
      let (from, to) = (
        Int64.random(in: 0..<Self.count, using: &random), Int64.random(in: 0..<Self.count, using: &random)
      )
      guard from != to else { return }
      let amount = Int.random(in: 1...9, using: &random)
      try store.write(durability: .buffered) { batch in
        for (account, change) in [(from, -amount), (to, amount)] {
          let key = Key.integer(account)
          let (balance, transfers) = Self.read(try store.get(key, in: accounts) ?? Self.value(0, 0))
          try batch.put(Self.value(balance + change, transfers + 1), at: key, in: accounts)
          if transfers % 2 == 0 { try batch.put([1], at: key, in: odd) } else { try batch.delete(key, in: odd) }
        }
      }
    }

    func check() throws {
      try store.read { snapshot in
        let rows = try snapshot.rows(in: accounts)
        guard !rows.isEmpty else { return }
        let values = rows.map { Self.read($0.value) }
        try Mismatch.unless(values.reduce(0) { $0 + $1.balance } == Self.sum, "the sum of all accounts")
        let odd = values.count { $0.transfers % 2 == 1 }
        try Mismatch.unless(try snapshot.count(in: self.odd) == odd, "the number of rows that come and go")
        for (row, value) in zip(rows, values) {
          try Mismatch.unless(
            try snapshot.contains(row.key, in: self.odd) == (value.transfers % 2 == 1), "a row that comes and goes")
        }
      }
    }
  }

  @Test("Readers see whole commits only while the store is refreshed beside a writer.") func wholeCommits() throws {
    let seed = chooseSeed()
    try withTemporaryDirectory { folder in
      let path = "\(folder)/store"
      var random = SplitMix64(seed: seed)
      var bank = try Accounts(Store.open(at: path, options: Accounts.options(.readWrite)))
      try bank.found()
      let reader = try Accounts(Store.open(at: path, options: Accounts.options(.readOnly)))
      let isOver = Atomic<Bool>(false)
      let threads = Threads()
      for _ in 0..<2 {
        threads.start { while !isOver.load(ordering: .acquiring) { try reader.check() } }
        threads.start { while !isOver.load(ordering: .acquiring) { _ = try reader.store.refresh() } }
      }
      let outcome = Result {
        for round in 1...chooseRounds(40, debug: 8) {
          for _ in 0..<400 { try bank.transfer(&random) }
          if round % 4 == 0 { try bank.store.compact(.everything) }
          if round % 3 == 0 {
            try bank.store.close()
            bank = try Accounts(Store.open(at: path, options: Accounts.options(.readWrite)))
          }
        }
      }
      isOver.store(true, ordering: .releasing)
      try threads.join()
      try outcome.get()
      #expect(try reader.store.refresh() == bank.store.lastSequence)
      try reader.check()
      try reader.store.close()
      try bank.store.close()
    }
  }

  @Test("A reader follows writers of other processes that are killed, and sees whole commits only.")
  func killedWriters() async throws {
    let seed = chooseSeed()
    let folder = try makeTemporaryDirectory()
    defer { removeDirectory(folder) }
    let path = "\(folder)/store"
    try Accounts(Store.open(at: path, options: Accounts.options(.readWrite))).found()
    let reader = try Accounts(Store.open(at: path, options: Accounts.options(.readOnly)))
    let isOver = Atomic<Bool>(false)
    let advances = Atomic<Int>(0)
    let threads = Threads()
    threads.start {
      while !isOver.load(ordering: .acquiring) {
        let before = reader.store.lastSequence
        if try reader.store.refresh() > before { advances.add(1, ordering: .relaxed) }
        try reader.check()
      }
    }
    for round in 0..<4 as Range<UInt64> {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, seed = (seed &+ round) as UInt64] in
        var random = SplitMix64(seed: seed)
        let bank = try Accounts(Store.open(at: path, options: Accounts.options(.readWrite)))
        for _ in 0..<Int.random(in: 500..<3000, using: &random) { try bank.transfer(&random) }
        kill(getpid(), SIGKILL)
      }
    }
    isOver.store(true, ordering: .releasing)
    try threads.join()
    #expect(advances.load(ordering: .relaxed) > 0)
    let bank = try Accounts(Store.open(at: path, options: Accounts.options(.readWrite)))
    #expect(try reader.store.refresh() == bank.store.lastSequence)
    try reader.check()
    try bank.check()
    try bank.store.close()
    try reader.store.close()
  }
}
