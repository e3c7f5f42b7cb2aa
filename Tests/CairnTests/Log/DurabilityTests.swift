import Cairn
import CairnSimulation
import Synchronization
import Testing

@Suite struct DurabilityTests {
  private let machine = Machine()

  @Test(
    "D1: A durable commit survives a power loss as soon as its call has returned.",
    arguments: ["/store", "/a/b", "/a//c/"])
  func durable(_ path: String) throws {
    try machine.files.createDirectory("/a")
    try machine.files.syncDirectory("/")
    let store = try machine.open(at: path)
    for key in 0..<30 as Range<Int64> {
      try store.put([UInt8].noise(5000, seed: UInt64(key)), at: .integer(key), in: store.keyspace("rows"))
      let again = try machine.crash().open(at: path)
      #expect(again.lastSequence == store.lastSequence)
      for known in 0...key {
        #expect(try again.get(.integer(known), in: again.keyspace("rows")) == [UInt8].noise(5000, seed: UInt64(known)))
      }
    }
  }

  @Test("D3: The commits that survive a crash reach at least to the durable sequence; only the newest are lost.")
  func bufferedIsLostAsASuffix() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    var random = SplitMix64(seed: 11)
    for key in 0..<400 as Range<Int64> {
      try store.put([UInt8].noise(Int(key) * 3), at: .integer(key), in: rows, key % 50 == 20 ? .durable : .buffered)
      if key % 70 == 0 { try store.sync() }
      let durable = store.durableSequence
      #expect(durable <= store.lastSequence)
      if key % 7 == 0 {
        machine.runBackground()
        for _ in 0..<2 {
          let crashed = machine.crash(using: &random)
          let again = try crashed.open()
          let found = try again.read { try $0.rows(in: again.keyspace("rows")) }
          #expect(found.map(\.key) == (0..<Int64(found.count)).map { .integer($0) })
          #expect(found.allSatisfy { $0.value.count == 3 * (found.firstIndex(of: $0) ?? -1) })
          #expect(again.lastSequence >= durable)
        }
      }
    }
    try store.sync()
    #expect(store.durableSequence == store.lastSequence)
    #expect(try machine.crash().open().lastSequence == store.lastSequence)
  }

  @Test("D4: Buffered commits survive the end of the process.") func buffersAreKeptWhenOnlyTheProcessEnds() throws {
    let store = try machine.open()
    for key in 0..<500 as Range<Int64> {
      try store.put([UInt8].noise(300), at: .integer(key), in: store.keyspace("rows"), .buffered)
    }
    let again = try machine.kill().open()
    #expect(again.lastSequence == store.lastSequence)
    #expect(again.recovery.discardedBytes == 0)
    #expect(try again.read { try $0.count(.all, in: again.keyspace("rows")) } == 500)
  }

  @Test("D7: Files and their names are durable before a manifest lists them, and the manifest before it is used.")
  func namesBeforeManifest() throws {
    let files = machine.files
    let trace = Lock<[String]>([])
    let problems = Lock<[String]>([])
    files.gate = { operation, path in
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      trace.withLock { $0.append("\(operation) \(name)") }
      guard operation == .rename else { return }
      // Everything that the new manifest lists must exist after a crash at this moment.
      let durable = files.crash().contents
      let manifest = files.contents[path] ?? []
      if durable[path] != nil && durable[path] != manifest { problems.withLock { $0.append("manifest not synced") } }
      for segment in listedSegments(manifest) where durable[Machine.segment(segment)] == nil {
        problems.withLock { $0.append("segment \(segment) has no durable name") }
      }
    }
    let store = try machine.open()
    for key in 0..<200 as Range<Int64> {
      try store.put([UInt8].noise(3000, seed: UInt64(key)), at: .integer(key), in: store.keyspace("rows"))
      machine.runBackground()
    }
    try store.close()
    let again = try machine.open()
    try again.put([1], at: 1, in: again.keyspace("rows"))
    files.gate = nil
    #expect(problems.withLock { $0 } == [])
    let operations = trace.withLock { $0 }
    let renames = operations.indices.filter { operations[$0].hasPrefix("rename") }
    #expect(renames.count > 10)
    for index in renames {
      #expect(
        operations[..<index].last { $0.hasSuffix("MANIFEST.new") && $0 != "rename MANIFEST.new" } == "sync MANIFEST.new"
      )
      #expect(operations[index + 1] == "syncDirectory store")
    }
  }

  private func listedSegments(_ manifest: [UInt8]) -> [Int] {
    guard manifest.count > 136 else { return [] }
    func word(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(manifest[offset + $1]) << (8 * $1) } }
    return (0..<word(84)).map { word(128 + 32 * $0) }
  }

  @Test("G16: A store may be closed twice, never, or with work left to do.") func closing() throws {
    do {
      let store = try machine.open()
      let rows = try store.keyspace("rows")
      try store.put([1], at: 1, in: rows)
      let snapshot = store.snapshot()
      try store.close()
      try store.close()
      #expect(failure { try store.put([2], at: 1, in: rows) }?.code == .closed)
      #expect(failure { try store.delete(1, in: rows) }?.code == .closed)
      #expect(try store.get(1, in: rows) == [1])
      #expect(try snapshot.rows(in: rows).count == 1)
      #expect(machine.files.contents["\(Machine.path)/LOCK"] == [])
    }
    // Without a call of `close`, the release of the last reference closes the store.
    do {
      let store = try machine.open()
      try store.put([2], at: 2, in: store.keyspace("rows"))
    }
    let last = try machine.open()
    #expect(try last.texts(last.keyspace("rows")).count == 2)
  }

  @Test("G16: A poisoned store can be closed.") func closingPoisoned() throws {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("rows"))
    machine.files.failNext(.sync, with: .system(5))
    #expect(failure { try store.put([1], at: 2, in: store.keyspace("rows")) }?.code == .poisoned)
    #expect(failure { try store.close() }?.code == .poisoned)
    try store.close()
    let again = try machine.open()
    #expect(try again.get(1, in: again.keyspace("rows")) == [1])
    try again.put([1], at: 3, in: again.keyspace("rows"))
  }

  @Test(
    "An asynchronous write commits, reports conflicts, and throws once the store is closed.",
    .timeLimit(.minutes(1)))
  func asyncForm() async throws {
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    let first = try await store.submit { try $0.put("1", at: 1, in: rows) }
    #expect(store.durableSequence >= first)
    #expect(try machine.crash().open().lastSequence == first)
    let second = try await store.submit(durability: .buffered) { try $0.put("2", at: 2, in: rows) }
    #expect(second == first + 1)
    await #expect(throws: StoreError.self) {
      try await store.submit { try $0.put("3", at: 1, in: rows, expecting: .absent) }
    }
    let sequences = try await withThrowingTaskGroup(of: CommitSequence.self) { group in
      for key in 10..<60 as Range<Int64> {
        group.addTask { try await store.submit { try $0.put("x", at: .integer(key), in: rows) } }
      }
      return try await group.reduce(into: Set<CommitSequence>()) { $0.insert($1) }
    }
    #expect(sequences.count == 50)
    #expect(try store.read { try $0.count(in: rows) } == 52)
    try store.close()
    do {
      try await store.submit { try $0.put("4", at: 4, in: rows) }
      Issue.record("written after the end")
    } catch let error as StoreError {
      #expect(error.code == .closed)
    }
  }

  @Test("A submitted commit that is cancelled before it is in the log is not made; afterwards it is.")
  func cancelled() async throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for isEarly in [true, false] {
      let (hasBegun, isDone) = (Flag(), Flag())
      let task = Task {
        defer { isDone.set() }
        return try await store.submit { batch in
          try rows.put("x", at: isEarly ? 1 : 2, in: &batch)
          hasBegun.set()
        }
      }
      while !hasBegun.isSet { await Task.yield() }
      if isEarly { task.cancel() }
      while !isDone.isSet {
        machine.runBackground()
        await Task.yield()
      }
      task.cancel()
      let result = await task.result
      #expect(try rows.contains(isEarly ? 1 : 2) == !isEarly)
      if isEarly {
        #expect(throws: CancellationError.self) { try result.get() }
      } else {
        #expect(try result.get() == store.lastSequence)
      }
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
  }

  @Test("D3: A caller can wait until a buffered commit is durable.")
  func waiting() async throws {
    let machine = Machine()
    let store = try machine.openThreaded()
    let rows = try store.keyspace("rows")
    let sequence = try store.put([1], at: 1, in: rows, .buffered)
    #expect(store.durableSequence < sequence)
    try await store.waitUntilDurable(sequence)
    #expect(store.durableSequence >= sequence)
    #expect(try machine.crash().open().recovery.rows == 1)
    await #expect(throws: StoreError.self) { try await store.waitUntilDurable(sequence + 1) }
    try store.put([2], at: 2, in: rows, .buffered)
    machine.files.failNext(.sync, with: .system(5))
    await #expect(throws: StoreError.self) { try await store.waitUntilDurable(sequence + 1) }
  }

  @Test("D3: A store opened for reading refuses to wait for a commit that is not known to be durable.")
  func waitingInAStoreOpenedForReading() async throws {
    let machine = Machine()
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let durable = try store.put([1], at: 1, in: rows)
    let buffered = try store.put([2], at: 2, in: rows, .buffered)
    var options = Machine.options
    options.access = .readOnly
    let reader = try machine.openThreaded(options)
    #expect(reader.lastSequence == buffered && reader.durableSequence == durable)
    let syncs = machine.files.count(of: .sync)
    try await reader.waitUntilDurable(durable)
    do throws(StoreError) {
      try await reader.waitUntilDurable(buffered)
      Issue.record("a store opened for reading made a commit durable")
    } catch {
      #expect(error.code == .readOnly)
    }
    #expect(machine.files.count(of: .sync) == syncs)
    #expect(!reader.isPoisoned)
    try reader.close()
  }
}
