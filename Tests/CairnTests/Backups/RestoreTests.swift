import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// Stores made from backups and from other stores.
@Suite struct RestoreTests {
  private let machine = Machine()
  private static let restored = "/restored"

  /// Nothing is compacted unless the test asks for it, so that the log keeps all commits.
  private static var options: StoreOptions {
    var options = Machine.options
    options.compacts = false
    return options
  }

  /// A store with two keyspaces, one of which keeps versions; returns the state after each of some commits.
  private func fill(_ store: Store, rounds: Range<UInt64> = 0..<20) throws -> [CommitSequence: StoreState] {
    let rows = try store.keyspace("rows")
    let kept = try store.keyspace("kept", order: .unordered)
    try store.setRetention(.last(3), of: kept)
    var states: [CommitSequence: StoreState] = [:]
    for round in rounds {
      let sequence = try store.write(durability: .buffered) { batch in
        for row in 0..<10 as Range<Int64> {
          try batch.put(.noise(800, seed: round << 8 + UInt64(row)), at: .integer(row), in: rows)
          if row.isMultiple(of: 2) { try batch.put([UInt8(round)], at: .integer(row), in: kept) }
        }
        try batch.delete(.integer(Int64(round % 10)), in: kept)
      }
      states[sequence] = try StoreState(store)
      machine.runBackground()
    }
    return states
  }

  @Test("G27: A restored store has the contents of the backup, and an identity of its own.") func contents() throws {
    let store = try machine.open(Self.options)
    _ = try fill(store)
    try store.compact()
    _ = try fill(store, rounds: 20..<30)
    let backup = try store.backup(to: Machine.backup)
    let report = try machine.restore(to: Self.restored)
    #expect(report.lastSequence == backup.lastSequence)
    #expect(report.bytes == backup.linked.bytes + backup.copied.bytes)
    #expect(try Verifier(at: Self.restored, files: machine.files).run().findings.map { "\($0)" } == [])
    let restored = try machine.openOther(at: Self.restored)
    #expect(try StoreState(restored) == StoreState(store))
    #expect(restored.identity != store.identity)
    #expect(restored.lastSequence == store.lastSequence)
    // It goes on by itself.
    let next = try restored.put([1], at: 100, in: restored.keyspace("rows"))
    #expect(next > store.lastSequence)
    try restored.compact(.everything)
    try restored.close()
    #expect(try machine.state(at: Self.restored).rows["rows"]?.count == 11)
  }

  @Test("G27: A store is restored at any commit that the log has.", arguments: [Machine.path, Machine.backup])
  func atACommit(source: String) throws {
    let store = try machine.open(Self.options)
    let states = try fill(store)
    try store.backup(to: Machine.backup)
    for (number, (commit, state)) in states.sorted(by: { $0.key < $1.key }).enumerated() where number % 4 == 1 {
      let path = "/restored at \(commit)"
      #expect(try machine.restore(from: source, to: path, at: commit).lastSequence == commit)
      #expect(try machine.state(at: path) == state)
      let restored = try machine.openOther(at: path)
      #expect(try restored.put([1], at: 1, in: restored.keyspace("rows")) > store.lastSequence)
      try restored.close()
    }
    let newest = try #require(states.keys.max())
    #expect(failure { try machine.restore(from: source, to: "/no", at: newest.next) }?.code == .commitNotFound)
    try store.compact(.everything)
    try store.backup(to: Machine.backup)
    let old = CommitSequence(newest.rawValue - 5)
    #expect(failure { try machine.restore(from: source, to: "/no", at: old) }?.code == .commitNotFound)
  }

  @Test("G27: A restored store keeps its commits, so that it can be restored at one of them again.") func again() throws
  {
    let store = try machine.open(Self.options)
    let states = try fill(store)
    try store.backup(to: Machine.backup)
    try machine.restore(to: "/once")
    let commit = try #require(states.keys.sorted().dropFirst(7).first)
    try machine.restore(from: "/once", to: "/twice", at: commit)
    #expect(try machine.state(at: "/twice") == states[commit])
  }

  @Test("G27: Damage in a backup is found while restoring, with its place, and nothing is made.") func damage() throws {
    let store = try machine.open(Self.options)
    _ = try fill(store)
    try store.checkpoint()
    try store.backup(to: Machine.backup, linksFiles: false)
    let path = "\(Machine.backup)/0000000002.segment"
    try machine.files.flip(4, at: 30_000, in: path)
    let error = failure { try machine.restore(to: Self.restored) }
    #expect(error?.code == .corrupted)
    #expect(error?.place?.segment == 2)
    #expect(try !machine.files.list("/").contains("restored"))
    // A checkpoint makes it unnecessary to read the record when a store is opened.
    try machine.files.flip(4, at: 30_000, in: "\(Machine.path)/0000000002.segment")
    _ = try machine.reader(at: Machine.path)
    let place = failure { try machine.restore(from: Machine.path, to: Self.restored) }?.place
    #expect(place?.segment == 2 && place?.offset ?? 0 <= 30_000 && place?.offset ?? 0 > 10_000)
    #expect(try !machine.files.list("/").contains("restored"))
  }

  @Test("Restoring needs a missing or empty directory, and can be cancelled.") func refusals() throws {
    let store = try machine.open(Self.options)
    _ = try fill(store)
    try store.backup(to: Machine.backup)
    #expect(failure { try machine.restore(to: Machine.path) }?.code == .alreadyExists)
    #expect(failure { try machine.restore(to: Machine.backup) }?.code == .alreadyExists)
    #expect(failure { try machine.restore(from: "/nowhere", to: Self.restored) }?.code == .notFound)
    let cancelled = failure {
      try Store.restore(
        from: Machine.backup, to: Self.restored,
        progress: { $0.bytes < $0.totalBytes / 2 }, environment: machine.environment(ManualScheduler()))
    }
    #expect(cancelled?.code == .cancelled)
    #expect(try !machine.files.list("/").contains("restored"))
    try machine.files.createDirectory(Self.restored)
    try machine.restore(to: Self.restored)
    #expect(try machine.state(at: Self.restored) == StoreState(store))
  }
}
