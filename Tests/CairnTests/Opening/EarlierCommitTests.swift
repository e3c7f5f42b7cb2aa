import CairnSimulation
import Testing

@testable import Cairn

/// Opening at an earlier commit: rare places of that commit in the log.
@Suite struct EarlierCommitTests {
  private func reopened(_ machine: Machine, upTo sequence: CommitSequence? = nil) throws -> Store {
    var options = Machine.options
    options.upTo = sequence
    return try machine.open(options)
  }

  @Test("G21: A keyspace that was dropped later is found, wherever compaction has moved its definition.")
  func movedDefinition() throws {
    let machine = Machine()
    let store = try machine.open()
    let dropped = try store.keyspace("dropped")
    try store.put([1], at: 1, in: dropped)
    try store.compact(.everything)
    let sequence = try store.put([2], at: 2, in: dropped)
    #expect(store.log.segments.withLock { $0.map(\.isCompacted) } == [false, true])
    try store.drop(dropped)
    // From the next manifest on, only the log knows the keyspace.
    try store.checkpoint()
    #expect(store.log.manifest.withLock { $0.keyspaces.isEmpty })
    try store.close()
    let earlier = try reopened(machine, upTo: sequence)
    #expect(try earlier.snapshot().rows(in: earlier.keyspace("dropped")).map(\.value) == [[1], [2]])
  }

  @Test("G21: A store goes back to a commit that is followed by a segment without commits.")
  func emptySegment() throws {
    let machine = Machine()
    var store = try machine.open()
    let sequence = try store.put([1], at: 1, in: store.keyspace("rows"))
    try store.close()
    // The first commit does not fit into the segment that the process begins with.
    store = try reopened(machine)
    try store.put(.noise(100_000), at: 2, in: store.keyspace("rows"))
    try store.close()
    store = try reopened(machine)
    try store.put([3], at: 3, in: store.keyspace("rows"))
    try store.close()
    store = try reopened(machine, upTo: sequence)
    try store.put([4], at: 4, in: store.keyspace("rows"))
    try store.close()
    store = try reopened(machine)
    #expect(try store.snapshot().rows(in: store.keyspace("rows")).map(\.value) == [[1], [4]])
  }
}
