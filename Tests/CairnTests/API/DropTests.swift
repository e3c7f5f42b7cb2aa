import CairnSimulation
import Testing

@testable import Cairn

@Suite struct DropTests {
  private func filled(_ machine: Machine, _ order: Keyspace.Order = .ordered) throws -> (Store, Keyspace) {
    let store = try machine.open()
    let rows = try store.keyspace("rows", order: order)
    for number in 0..<300 { try store.put(.noise(200), at: .integer(Int64(number)), in: rows, .buffered) }
    return (store, rows)
  }

  @Test(
    "G6: Dropping a keyspace removes all its rows at once, and older snapshots still see them.",
    arguments: [Keyspace.Order.ordered, .unordered])
  func itsRowsAreGoneAndSnapshotsStillSeeThem(_ order: Keyspace.Order) throws {
    let (store, rows) = try filled(Machine(), order)
    let before = store.snapshot()
    let sequence = try store.drop(rows)
    #expect(store.lastSequence == sequence)
    #expect(try store.get(5, in: rows) == nil && !store.contains(5, in: rows))
    #expect(try store.snapshot().rows(in: rows).isEmpty && store.snapshot().count(in: rows) == 0)
    #expect(try store.snapshot().get(many: [5, 6], in: rows) == [nil, nil])
    #expect(store.keyspaces.isEmpty && store.statistics.rows == 0 && store.statistics.liveBytes == 0)
    #expect(try before.count(in: rows) == 300 && before.get(5, in: rows) == .noise(200))
    #expect(try before.rows(in: rows).count == 300)
  }

  @Test("G13: The space of a dropped keyspace is reclaimed without another write.") func itsSpaceComesBack() throws {
    let machine = Machine()
    let (store, rows) = try filled(machine)
    machine.runBackground()
    let before = store.statistics.logBytes
    try store.drop(rows)
    machine.runBackground()
    #expect(store.statistics.logBytes < before / 2)
  }

  @Test("G8: A tombstone that is compacted under a snapshot does not outlive the record of its keyspace's drop.")
  func tombstoneUnderASnapshot() throws {
    let machine = Machine()
    var store = try machine.open()
    let (gone, rows) = (try store.keyspace("gone"), try store.keyspace("rows"))
    try store.put([1], at: 1, in: gone)
    try store.put(.noise(50_000), at: 1, in: rows)
    // The checkpoint has the row, so its tombstone has to be copied.
    try store.checkpoint()
    try store.put(.noise(50_000), at: 2, in: rows)
    try store.delete(1, in: gone)
    try store.put(.noise(50_000), at: 3, in: rows)
    let snapshot = store.snapshot()
    try store.drop(gone)
    try store.compact(.everything)
    snapshot.close()
    try store.checkpoint()
    // Only the segment with the drop is worth another compaction.
    try store.put([3], at: 3, in: rows)
    try store.compact()
    try store.close()
    for path in machine.contents.keys where path.hasSuffix(".checkpoint") { try machine.files.remove(path) }
    store = try machine.open()
    #expect(store.keyspaces.map(\.name) == ["rows"])
    #expect(try store.snapshot().count(in: store.keyspace("rows")) == 3)
  }

  @Test("Writing to a dropped keyspace is refused.") func writingToItIsRefused() throws {
    let (store, rows) = try filled(Machine())
    try store.drop(rows)
    #expect(failure { try store.put([1], at: 1, in: rows) }?.code == .keyspaceDropped)
    #expect(failure { try store.drop(rows) }?.code == .keyspaceDropped)
    #expect(try store.write { try $0.put([2], at: 1, in: store.keyspace("others")) } > 300)
  }

  @Test("The name of a dropped keyspace can be used at once for another keyspace.")
  func theNameCanBeUsedAgainAtOnceAndIsAnotherKeyspace() throws {
    let machine = Machine()
    let (store, rows) = try filled(machine)
    let before = store.snapshot()
    try store.drop(rows)
    let again = try store.keyspace("rows", order: .unordered)
    #expect(again.id != rows.id)
    try store.put([9], at: 5, in: again)
    #expect(try store.get(5, in: again) == [9] && before.get(5, in: rows) == .noise(200))
    #expect(try before.get(5, in: again) == nil)
    let later = try machine.crash().open()
    #expect(
      try later.keyspaces.map(\.id) == [again.id] && later.get(5, in: later.keyspace("rows", order: .unordered)) == [9])
  }

  @Test("The memory of a dropped keyspace is freed when the last snapshot that sees it ends.")
  func itsMemoryComesBackWithTheLastSnapshotThatSeesIt() throws {
    let store = try Machine().open()
    var bytes = 0
    for round in 0..<30 {
      let rows = try store.keyspace("rows")
      try store.write(durability: .buffered) { batch in
        for number in 0..<8000 { try batch.put([UInt8(round)], at: .integer(Int64(number)), in: rows) }
      }
      let before = store.snapshot()
      try store.drop(rows, .buffered)
      #expect(try before.get(7, in: rows) == [UInt8(round)])
      before.close()
      if round == 3 { bytes = store.statistics.indexBytes }
    }
    #expect(store.statistics.indexBytes <= bytes)
  }

  @Test("G8: A dropped keyspace stays dropped after reopening.", arguments: [false, true])
  func itStaysDroppedAfterReopening(_ hasCheckpoint: Bool) throws {
    let machine = Machine()
    let (store, rows) = try filled(machine)
    let others = try store.keyspace("others")
    try store.put([1], at: 1, in: others)
    try store.checkpoint()
    try store.drop(rows)
    if hasCheckpoint {
      try store.checkpoint()
      try store.put([2], at: 2, in: others)
      try store.checkpoint()
    }
    let again = try machine.crash().open()
    #expect(again.recovery.ignoredCheckpoints.isEmpty)
    #expect(again.keyspaces.map(\.name) == ["others"])
    #expect(again.statistics.liveBytes == store.statistics.liveBytes)
    #expect(try again.keyspace("rows").id > others.id)
  }

  @Test func aDropThatWasNotDurableMayBeUndoneByACrash() throws {
    let machine = Machine()
    let (store, rows) = try filled(machine)
    try store.sync()
    try store.drop(rows, .buffered)
    try store.put([1], at: 1, in: try store.keyspace("others"), .buffered)
    let again = try machine.crash().open()
    #expect(try again.snapshot().count(in: again.keyspace("rows")) == 300)
    #expect(try again.get(5, in: again.keyspace("rows")) == .noise(200))
  }

  @Test("Dropping a keyspace that was never written to leaves no trace.")
  func oneThatWasNeverWrittenToLeavesNoTrace() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.drop(try store.keyspace("empty"))
    #expect(store.lastSequence == 0 && store.keyspaces.isEmpty)
  }
}
