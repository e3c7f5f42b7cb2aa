import CairnSimulation
import Synchronization
import Testing

@testable import Cairn

@Suite struct ChangesTests {
  private let machine = Machine()

  private func start(_ store: Store) throws -> ChangePosition {
    try store.read { snapshot in try snapshot.position() }
  }

  private func all(_ store: Store, since position: ChangePosition) throws -> [CommittedChanges] {
    var cursor = try store.changes(since: position)
    var changes: [CommittedChanges] = []
    while let next = try cursor.next() { changes.append(next) }
    return changes
  }

  private func words(_ changes: [CommittedChanges]) -> [[String]] {
    changes.map { commit in
      commit.changes.map { change in
        switch change {
        case .put(let row, let keyspace): "\(keyspace): \(row.key) \(row.value)"
        case .deleted(let key, let keyspace): "\(keyspace): \(key) deleted"
        case .dropped(let keyspace): "\(keyspace) dropped"
        }
      }
    }
  }

  @Test("Each row that has changed is returned once, in its newest state, in the order of the commits.")
  func newestStates() throws {
    let store = try machine.open()
    let (planets, moons) = (try store.keyspace("planets"), try store.keyspace("moons"))
    try planets.put([1], at: "Mars")
    let position = try start(store)
    try store.addChangeReader("words", since: position)
    try planets.put([2], at: "Mars")
    try store.write { batch in
      try batch.put([3], at: "Venus", in: planets)
      try batch.put([4], at: "Io", in: moons)
      try batch.put([5], at: "Ganymede", in: moons)
    }
    try planets.put([6], at: "Venus")
    try planets.delete("Mars")
    let last = try moons.put([7], at: "Io")
    let changes = try all(store, since: position)
    #expect(
      words(changes) == [
        [#"moons: "Ganymede" [5]"#], [#"planets: "Venus" [6]"#], [#"planets: "Mars" deleted"#],
        [#"moons: "Io" [7]"#],
      ])
    #expect(changes.last?.sequence == last)
    #expect(changes.allSatisfy { $0.isComplete && $0.position.sequence == $0.sequence })
    // Also where compaction has moved the records, and in the next process.
    try store.compact(.everything)
    try store.close()
    let next = try machine.open()
    #expect(words(try all(next, since: changes[0].position)) == Array(words(changes)[1...]))
    #expect(try all(next, since: changes[3].position).isEmpty)
  }

  @Test("The drop of a keyspace is returned by its name, before the rows of a later one of the same name.")
  func drops() throws {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("tents"))
    let position = try start(store)
    try store.addChangeReader("tents", since: position)
    try store.put([2], at: 2, in: store.keyspace("tents"))
    try store.drop(store.keyspace("tents"))
    try store.put([3], at: 3, in: store.keyspace("tents"))
    let expected = [["tents dropped"], ["tents: 3 [3]"]]
    #expect(words(try all(store, since: position)) == expected)
    for _ in 0..<3 {
      try store.checkpoint()
      try store.compact(.everything)
    }
    #expect(words(try all(store, since: position)) == expected)
  }

  @Test("Only durable commits are returned.") func durableCommits() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try rows.put([1], at: 1, durability: .buffered)
    let snapshot = store.snapshot()
    // The position of a snapshot makes its commit durable.
    var cursor = try store.changes(since: snapshot.position())
    #expect(store.durableSequence == snapshot.sequence)
    try rows.put([2], at: 1, durability: .buffered)
    #expect(try cursor.next() == nil)
    try store.sync()
    try rows.put([3], at: 1, durability: .buffered)
    #expect(try cursor.next().map { words([$0]) } == [["rows: 1 [2]"]])
    #expect(try cursor.next() == nil)
    try store.sync()
    #expect(try cursor.next().map { words([$0]) } == [["rows: 1 [3]"]])
  }

  @Test("A deletion or a drop that a loss of power may undo hides no change before it.", arguments: [false, true])
  func undoneDeletions(_ isDrop: Bool) throws {
    let store = try machine.open()
    let planets = try store.keyspace("planets")
    let position = try start(store)
    try planets.put([1], at: "Mars")
    var cursor = try store.changes(since: position)
    if isDrop { try store.drop(planets, .buffered) } else { try planets.delete("Mars", durability: .buffered) }
    let commit = try #require(try cursor.next())
    #expect(words([commit]) == [[#"planets: "Mars" [1]"#]])
    #expect(try cursor.next() == nil)
    try store.sync()
    let last = try #require(try cursor.next())
    #expect(words([last]) == [[isDrop ? "planets dropped" : #"planets: "Mars" deleted"#]])
    #expect(words(try all(store, since: position)) == words([last]))
  }

  @Test("A large commit is returned in parts, and the position stays before it until the last one.")
  func parts() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let position = try start(store)
    try store.write { batch in for key in 0..<2500 as Range<Int64> { try batch.put([1], at: .integer(key), in: rows) } }
    try store.write { batch in
      for key in 2500..<2503 as Range<Int64> { try batch.put(.noise(700_000), at: .integer(key), in: rows) }
    }
    for isMoved in [false, true] {
      if isMoved { try store.compact(.everything) }
      let changes = try all(store, since: position)
      #expect(changes.map(\.changes.count) == [1000, 1000, 500, 2, 1])
      #expect(changes.map(\.isComplete) == [false, false, true, false, true])
      let sequences = changes.map(\.position.sequence)
      #expect(sequences == [0, 0, changes[0].sequence, changes[0].sequence, changes[4].sequence])
    }
  }

  @Test("The rest of a large commit that has been superseded meanwhile still ends the commit.")
  func supersededRest() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    var cursor = try store.changes(since: start(store))
    let write = {
      try store.write { batch in
        for key in 0..<1500 as Range<Int64> { try batch.put([1], at: .integer(key), in: rows) }
      }
    }
    let first = try write()
    #expect(try cursor.next()?.isComplete == false)
    _ = try write()
    try store.compact(.everything)
    let end = try #require(try cursor.next())
    #expect(end.sequence == first && end.isComplete && end.changes.isEmpty)
    #expect(try cursor.next()?.changes.count == 1000)
    #expect(try cursor.next()?.changes.count == 500)
    #expect(try cursor.next() == nil)
  }

  // MARK: Positions

  @Test("A position is a text.") func texts() throws {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("rows"))
    let position = try start(store)
    #expect(ChangePosition(position.description) == position)
    for text in ["", "1-2-3", position.description + "0x", " " + position.description] {
      #expect(ChangePosition(text)?.description != position.description)
    }
  }

  @Test("Where deletions may be missing, the position has expired.") func expired() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for key in 0..<10 as Range<Int64> { try rows.put([1], at: key) }
    let position = try start(store)
    try rows.delete(3)
    let later = try start(store)
    // Copied again without what the tombstone deletes, the tombstone is left out.
    for _ in 0..<2 { try store.compact(.everything) }
    #expect(failure { _ = try store.changes(since: position) }?.code == .positionExpired)
    #expect(failure { try store.addChangeReader("late", since: position) }?.code == .positionExpired)
    #expect(try all(store, since: later).isEmpty)
    try store.close()
    #expect(failure { _ = try machine.open().changes(since: position) }?.code == .positionExpired)
  }

  @Test("A tombstone that is left out because its row exists again expires no position.") func putAgain() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for key in 0..<10 as Range<Int64> { try rows.put([1], at: key) }
    let position = try start(store)
    try rows.delete(3)
    try rows.put([2], at: 3)
    for _ in 0..<2 { try store.compact(.everything) }
    #expect(store.statistics.tombstoneBytes == 0)
    #expect(words(try all(store, since: position)) == [["rows: 3 [2]"]])
  }

  @Test("A position of another store, or of commits that the store was taken back from, is refused.")
  func replaced() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let early = try rows.put([1], at: 1)
    let before = try start(store)
    try rows.put([2], at: 2)
    let position = try start(store)
    try store.addChangeReader("old", since: position)
    #expect(failure { _ = try Machine(seed: 2).open().changes(since: position) }?.code == .replaced)
    try store.close()
    var options = Machine.options
    options.upTo = early
    let back = try machine.open(options)
    #expect(failure { _ = try back.changes(since: position) }?.code == .replaced)
    try back.put([3], at: 3, in: back.keyspace("rows"))
    #expect(back.changeReaders.isEmpty)
    for old in [before, position] {
      #expect(failure { _ = try back.changes(since: old) }?.code == .replaced)
      #expect(failure { try back.addChangeReader("old", since: old) }?.code == .replaced)
    }
  }

  @Test("A restored store refuses the positions of the original, and knows none of its readers.") func restored() throws
  {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("rows"))
    let position = try start(store)
    try store.addChangeReader("search", since: position)
    try store.backup(to: Machine.backup)
    try machine.restore(to: "/restored")
    let restored = try machine.openOther(at: "/restored")
    #expect(restored.changeReaders.isEmpty)
    #expect(failure { _ = try restored.changes(since: position) }?.code == .replaced)
    try restored.put([2], at: 2, in: restored.keyspace("rows"))
    #expect(words(try all(restored, since: restored.position(behind: position.sequence))) == [["rows: 2 [2]"]])
    try restored.close()
  }

  // MARK: Readers with names

  /// Deletes every second of some rows, again and again, and compacts.
  private func churn(_ store: Store) throws {
    let rows = try store.keyspace("rows")
    for key in 0..<400 as Range<Int64> { try rows.put([UInt8].noise(20), at: key, durability: .buffered) }
    for key in stride(from: 0, to: 400, by: 2) as StrideTo<Int64> { try rows.delete(key, durability: .buffered) }
    for _ in 0..<2 { try store.compact(.everything) }
  }

  /// The keys that are left after the changes.
  private func copy(_ changes: [CommittedChanges]) -> Set<Key> {
    changes.flatMap(\.changes).reduce(into: []) { keys, change in
      switch change {
      case .put(let row, _): keys.insert(row.key)
      case .deleted(let key, _): keys.remove(key)
      case .dropped: keys = []
      }
    }
  }

  @Test("The log keeps deletions for a reader until they are acknowledged, also in the next process.")
  func held() throws {
    var store = try machine.open()
    let position = try start(store)
    try store.addChangeReader("search", since: position)
    try churn(store)
    #expect(store.statistics.tombstoneBytes > 3000)
    #expect(store.statistics.changeReaders.map(\.name) == ["search"])
    #expect(store.changeReaders[0].heldBytes > 3000 && store.changeReaders[0].isHeld)
    try store.close()
    store = try machine.open()
    try churn(store)
    let changes = try all(store, since: store.changeReaders[0].position)
    #expect(try copy(changes) == store.read { try Set($0.rows(in: store.keyspace("rows")).map(\.key)) })
    #expect(words(changes).joined().count { $0.hasSuffix("deleted") } >= 200)
    try store.acknowledge(changes[changes.count - 1].position, by: "search")
    // Closing writes to disk what has been acknowledged.
    try store.close()
    #expect(failure { try store.removeChangeReader("search") }?.code == .closed)
    store = try machine.open()
    #expect(store.changeReaders[0].position == changes[changes.count - 1].position)
    for _ in 0..<2 { try store.compact(.everything) }
    #expect(store.statistics.tombstoneBytes == 0 && store.changeReaders[0].heldBytes == 0)
    try store.removeChangeReader("search")
    #expect(store.changeReaders.isEmpty)
    for name in ["search", ""] {
      #expect(failure { try store.removeChangeReader(name) }?.code == .notFound)
      #expect(failure { try store.acknowledge(position, by: name) }?.code == .notFound)
    }
    try store.close()
    #expect(try machine.open().changeReaders.isEmpty)
  }

  @Test("What is kept for readers does not count as excess: writers do not wait for it.") func pace() throws {
    let store = try machine.open()
    try store.addChangeReader("slow", since: start(store))
    let rows = try store.keyspace("rows")
    for round in 0..<150 as Range<Int64> {
      for key in 0..<200 as Range<Int64> {
        try rows.put([UInt8].noise(20), at: round * 1000 + key, durability: .buffered)
        try rows.delete(round * 1000 + key, durability: .buffered)
        if key.isMultiple(of: 20) { machine.runOneInBackground() }
      }
    }
    #expect(store.changeReaders[0].heldBytes > 6 * Machine.options.segmentSize)
    #expect(machine.paused.load(ordering: .relaxed) == 0)
    let appended = store.statistics.appendedBytes
    let compacted = store.statistics.compactedBytes
    #expect(compacted < 3 * appended)
  }

  @Test("A reader that falls too far behind is told, and the log keeps nothing for it.", arguments: [true, false])
  func tooFarBehind(_ isBytes: Bool) throws {
    let store = try machine.open()
    let position = try start(store)
    try store.addChangeReader(
      "slow", since: position, mostBytes: isBytes ? 1000 : .max, longestTime: isBytes ? .seconds(1000) : .nanoseconds(1)
    )
    try store.addChangeReader("other", since: position)
    try churn(store)
    #expect(store.changeReaders.map(\.isHeld) == [true, false])
    // As long as another reader keeps the deletions, nothing is lost, and the reader may go on.
    try store.acknowledge(position, by: "slow")
    #expect(store.changeReaders.map(\.isHeld) == [true, true])
    try store.removeChangeReader("other")
    for _ in 0..<2 { try store.compact(.everything) }
    #expect(store.changeReaders.map(\.isHeld) == [false])
    #expect(store.statistics.tombstoneBytes == 0)
    #expect(failure { try store.acknowledge(position, by: "slow") }?.code == .positionExpired)
    #expect(failure { _ = try store.changes(since: position) }?.code == .positionExpired)
    try store.addChangeReader("slow", since: start(store))
    #expect(store.changeReaders.map(\.isHeld) == [true])
  }

  @Test("A reader that is added in the middle of a compaction gets what that compaction would have left out.")
  func addedAmid() throws {
    var expired = 0
    for pieces in stride(from: 0, to: 40, by: 3) {
      let machine = Machine()
      let store = try machine.open()
      let position = try start(store)
      let rows = try store.keyspace("rows")
      for key in 0..<3000 as Range<Int64> { try rows.put([UInt8].noise(20), at: key, durability: .buffered) }
      for key in 0..<2990 as Range<Int64> { try rows.delete(key, durability: .buffered) }
      for _ in 0..<pieces { machine.runOneInBackground() }
      if failure({ try store.addChangeReader("late", since: position) })?.code == .positionExpired {
        expired += 1
        continue
      }
      machine.runBackground()
      try store.compact(.everything)
      #expect(try all(store, since: position).flatMap(\.changes).count == 3000)
    }
    #expect(expired > 0 && expired < 14)
  }

  @Test("Readers' names and limits are checked.") func limits() throws {
    let store = try machine.open()
    let position = try start(store)
    for name in ["", String(repeating: "x", count: 65_536)] {
      #expect(failure { try store.addChangeReader(name, since: position) }?.code == .invalidArgument)
    }
    #expect(failure { try store.addChangeReader("x", since: position, mostBytes: -1) }?.code == .invalidArgument)
    #expect(
      failure { try store.addChangeReader("x", since: position, longestTime: .seconds(-1)) }?.code == .invalidArgument)
    for number in 1..<100 { try store.addChangeReader("\(number)", since: position) }
    try store.addChangeReader("x", since: position)
    #expect(failure { try store.addChangeReader("y", since: position) }?.code == .invalidArgument)
    for number in 1..<100 { try store.removeChangeReader("\(number)") }
    try store.addChangeReader("x", since: position, mostBytes: .max, longestTime: .seconds(Int64.max))
    try store.close()
    var options = Machine.options
    options.access = .readOnly
    let reader = try machine.open(options)
    #expect(reader.changeReaders.map(\.name) == ["x"])
    #expect(failure { _ = try reader.changes(since: position) }?.code == .readOnly)
    #expect(failure { try reader.acknowledge(position, by: "x") }?.code == .readOnly)
  }

  @Test("A damaged record is reported, and the cursor stays before it.", arguments: [false, true])
  func damage(_ isMoved: Bool) throws {
    var store = try machine.open()
    let position = try start(store)
    try store.write { batch in
      let rows = try store.keyspace("rows")
      for key in 0..<4 as Range<Int64> { try batch.put(.noise(1000), at: .integer(key), in: rows) }
    }
    if isMoved { try store.compact(.everything) }
    try store.checkpoint()
    try store.close()
    store = try machine.open()
    var cursor = try store.changes(since: position)
    let segment = try #require(store.log.segments.withLock { $0.first { $0.isCompacted == isMoved }?.id })
    try machine.files.flip(1, at: 2800, in: Machine.segment(Int(segment.rawValue)))
    for _ in 0..<3 { #expect(failure { _ = try cursor.next() }?.code == .corrupted) }
    #expect(cursor.position == position)
    try machine.files.flip(1, at: 2800, in: Machine.segment(Int(segment.rawValue)))
    // The sequence of a commit, or of a moved record: as a smaller number it would hide the change.
    cursor = try store.changes(since: position)
    let offset = isMoved ? 0xB0 + 8 : 128 + 16
    try machine.files.flip(1, at: offset, in: Machine.segment(Int(segment.rawValue)))
    for _ in 0..<2 { #expect(failure { _ = try cursor.next() }?.code == .corrupted) }
    try machine.files.flip(1, at: offset, in: Machine.segment(Int(segment.rawValue)))
    #expect(try cursor.next()?.changes.count == 4)
  }
}
