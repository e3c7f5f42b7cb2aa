import CairnSimulation
import Testing

@testable import Cairn

/// Going back to a commit that much has happened after.
@Suite struct GoingBackTests {
  private let machine = Machine()

  private func open(upTo commit: CommitSequence? = nil) throws -> Store {
    var options = Machine.options
    options.compacts = false
    options.writesCheckpoints = false
    options.upTo = commit
    return try machine.open(options)
  }

  @Test("G21: A store goes back to before an opening that made no commit.") func emptyEpoch() throws {
    var store = try open()
    let commit = try store.put([1], at: 1, in: store.keyspace("rows"))
    try store.close()
    store = try open()
    try store.beginWriting()
    try store.close()
    store = try open()
    try store.put([2], at: 1, in: store.keyspace("rows"))
    try store.close()
    store = try open()
    try store.put([3], at: 1, in: store.keyspace("rows"))
    try store.close()
    store = try open(upTo: commit)
    #expect(try store.get(1, in: store.keyspace("rows")) == [1])
    try store.put([4], at: 2, in: store.keyspace("rows"))
    try store.close()
    store = try open()
    #expect(try store.texts(store.keyspace("rows")).count == 2)
    #expect(try store.get(1, in: store.keyspace("rows")) == [1])
  }

  @Test("G21: A store goes back to before a keyspace was dropped whose definition compaction has moved.")
  func droppedKeyspace() throws {
    let store = try open()
    let rows = try store.keyspace("rows")
    try store.put([1], at: 1, in: store.keyspace("others"))
    try store.setRetention(.last(2), of: rows)
    try store.put([1], at: 1, in: rows)
    try store.put([2], at: 1, in: rows)
    try store.compact(.everything)
    let commit = try store.put([3], at: 1, in: rows)
    try store.drop(rows)
    // The manifest that lists the keyspace no longer is written when the next checkpoint is.
    try store.checkpoint()
    let reader = try machine.reader(at: Machine.path, upTo: commit)
    #expect(try reader.get(1, in: reader.keyspace("rows")) == [3])
    #expect(try reader.history(of: 1, in: reader.keyspace("rows")).map(\.value) == [[3], [2]])
    #expect(try machine.reader(at: Machine.path).keyspaces.map(\.name) == ["others"])
  }
}
