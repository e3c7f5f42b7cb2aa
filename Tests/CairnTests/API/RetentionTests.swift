import CairnSimulation
import Testing

@testable import Cairn

/// Which versions of a row are kept, and for how long.
@Suite struct RetentionTests {
  private let machine = Machine()

  private static var options: StoreOptions {
    var options = Machine.options
    options.compacts = false
    options.writesCheckpoints = false
    return options
  }

  private func open(_ machine: Machine? = nil) throws -> Store { try (machine ?? self.machine).open(Self.options) }

  /// A row's versions as text, newest first; a deletion is a dash.
  private func history(_ store: Store, _ key: Key = "k", in name: String = "rows") throws -> [String] {
    try store.history(of: key, in: store.keyspace(name)).map {
      $0.value.map { String(decoding: $0, as: UTF8.self) } ?? "-"
    }
  }

  private func write(_ store: Store, _ values: String..., at key: Key = "k") throws {
    let keyspace = try store.keyspace("rows")
    for value in values {
      if value == "-" {
        try store.delete(key, in: keyspace)
      } else {
        try store.put([UInt8](value), at: key, in: keyspace)
      }
    }
  }

  private func retain(_ store: Store, _ count: Int) throws {
    try store.setRetention(.last(count), of: store.keyspace("rows"))
  }

  /// Checks the history in the open store and after opening it again in every way: by replay, from a checkpoint, after
  /// compaction, and after compaction without the checkpoint.
  private func expectEverywhere(_ store: Store, _ expected: [String]) throws {
    #expect(try history(store) == expected)
    #expect(try history(open(machine.kill())) == expected)
    #expect(try history(open(machine.crash())) == expected)
    try store.checkpoint()
    #expect(try history(open(machine.kill())) == expected)
    try store.compact(.everything)
    #expect(try history(store) == expected)
    #expect(try history(open(machine.kill())) == expected)
    for path in machine.contents.keys where path.hasSuffix(".checkpoint") { try machine.files.remove(path) }
    #expect(try history(open(machine.kill())) == expected)
  }

  @Test("A keyspace retains only the newest version of a row unless its retention was set.")
  func onlyTheNewestIsKeptUnlessSomebodySaysSo() throws {
    let store = try open()
    try write(store, "a", "b", "c")
    #expect(try store.keyspace("rows").retention == .newest)
    try expectEverywhere(store, ["c"])
    try write(store, "-")
    try expectEverywhere(store, [])
  }

  @Test("G7: A keyspace retains the last versions of each row.") func theLastVersionsAreKept() throws {
    let store = try open()
    try retain(store, 3)
    try write(store, "a", "b")
    try expectEverywhere(store, ["b", "a"])
    try write(store, "c", "d", "e")
    try expectEverywhere(store, ["e", "d", "c"])
    #expect(try store.keyspace("rows").retention == .last(3))
    #expect(store.statistics.olderVersions == 2)
  }

  @Test(arguments: [[1], [1, 3]]) func aSnapshotsHistoryKeepsADeletionThatNothingElseNeeds(_ counts: [Int]) throws {
    let store = try open()
    try retain(store, 2)
    try write(store, "a", "-")
    let snapshot = store.snapshot()
    for count in counts { try retain(store, count) }
    let afterwards = store.snapshot()
    try write(store, "b")
    let seen = try snapshot.history(of: "k", in: store.keyspace("rows"))
    #expect(seen.map { $0.value.map { String(decoding: $0, as: UTF8.self) } } == [nil, "a"])
    #expect(try afterwards.history(of: "k", in: store.keyspace("rows")).isEmpty)
    #expect(try history(store) == ["b"])
    snapshot.close()
    afterwards.close()
    #expect(store.statistics.pinnedBytes == 0)
    // The space accounts equal those of a store that has replayed the log.
    let replayed = try open(machine.kill())
    #expect(store.statistics.tombstoneBytes == replayed.statistics.tombstoneBytes)
    #expect(store.statistics.liveBytes == replayed.statistics.liveBytes)
    try replayed.close()
    try expectEverywhere(store, ["b"])
  }

  @Test("Older versions have the value, revision and version number that their row had.")
  func versionsCarryWhatTheirRowsDid() throws {
    let store = try open()
    try retain(store, 4)
    try write(store, "a", "b", "-", "c")
    let versions = try store.history(of: "k", in: store.keyspace("rows"))
    #expect(versions.map(\.version) == [1, 2, 2, 1])
    #expect(versions.map(\.sequence) == versions.map(\.sequence).sorted(by: >))
    #expect(versions.map(\.isDeletion) == [false, true, false, false])
    #expect(versions[0].sequence == store.lastSequence)
  }

  @Test("G7: A deletion counts as a version, and is retained with the versions before it.") func deletions() throws {
    let store = try open()
    try retain(store, 3)
    try write(store, "a", "-")
    try expectEverywhere(store, ["-", "a"])
    #expect(try store.get("k", in: store.keyspace("rows")) == nil)
    #expect(store.statistics.rows == 0)
    try write(store, "b")
    try expectEverywhere(store, ["b", "-", "a"])
    try write(store, "-")
    try expectEverywhere(store, ["-", "b", "-"])
    try write(store, "c", "d")
    try expectEverywhere(store, ["d", "c", "-"])
    #expect(store.statistics.rows == 1)
  }

  @Test("G7: Lowering a retention removes the surplus versions at once; raising it brings none back.")
  func changing() throws {
    let store = try open()
    try retain(store, 4)
    try write(store, "a", "b", "c", "d")
    try retain(store, 2)
    try expectEverywhere(store, ["d", "c"])
    try retain(store, 5)
    try expectEverywhere(store, ["d", "c"])
    try write(store, "e")
    try expectEverywhere(store, ["e", "d", "c"])
    try retain(store, 1)
    try expectEverywhere(store, ["e"])
    try write(store, "f", "-")
    try retain(store, 3)
    try expectEverywhere(store, [])
    try write(store, "g")
    try expectEverywhere(store, ["g"])
  }

  @Test func aDeletedRowGoesWhenOnlyTheNewestIsKept() throws {
    let store = try open()
    try retain(store, 2)
    try write(store, "a", "-")
    try store.checkpoint()
    try retain(store, 1)
    #expect(try history(open(machine.kill())) == [])
    try store.compact(.everything)
    #expect(try history(open(machine.kill())) == [])
    try expectEverywhere(store, [])
    #expect(store.statistics.liveBytes == 0)
    #expect(store.statistics.olderVersions == 0)
  }

  @Test("Setting the present retention again makes no commit.") func sayingTheSameAgainTakesNoCommit() throws {
    let store = try open()
    let keyspace = try store.keyspace("rows")
    let first = try store.setRetention(.last(2), of: keyspace)
    #expect(try store.setRetention(.last(2), of: keyspace) == first)
    #expect(store.lastSequence == first)
  }

  @Test("A retention outside its limits is refused.") func otherNumbersAreRefused() throws {
    let store = try open()
    let keyspace = try store.keyspace("rows")
    for count in [0, -1, Retention.maximumCount + 1, Int.max, Int.min] {
      #expect(failure { try store.setRetention(.last(count), of: keyspace) }?.code == .invalidArgument)
    }
    try store.setRetention(.last(Retention.maximumCount), of: keyspace)
    try store.drop(keyspace)
    #expect(failure { try store.setRetention(.last(2), of: keyspace) }?.code == .keyspaceDropped)
    try store.close()
    #expect(failure { try store.setRetention(.last(2), of: keyspace) }?.code == .closed)
  }

  @Test func droppingAKeyspaceDropsItsHistory() throws {
    let store = try open()
    try retain(store, 3)
    try write(store, "a", "b", "-")
    try store.drop(try store.keyspace("rows"))
    #expect(store.statistics.olderVersions == 0)
    #expect(store.statistics.liveBytes == 0)
    try write(store, "z")
    try expectEverywhere(store, ["z"])
    #expect(try store.keyspace("rows").retention == .newest)
  }

  @Test("G7: A snapshot sees the history as of its commit.") func snapshots() throws {
    let store = try open()
    let keyspace = try store.keyspace("rows")
    try retain(store, 2)
    try write(store, "a", "b", "-")
    let snapshot = store.snapshot()
    let expected = try snapshot.history(of: "k", in: keyspace)
    #expect(expected.count == 2)
    try write(store, "c", "d", "e")
    try retain(store, 1)
    #expect(try snapshot.history(of: "k", in: keyspace) == expected)
    try store.compact(.everything)
    #expect(try snapshot.history(of: "k", in: keyspace) == expected)
    #expect(store.statistics.pinnedBytes > 0)
    snapshot.close()
    #expect(store.statistics.pinnedBytes == 0)
    #expect(store.statistics.olderVersions == 0)
    try expectEverywhere(store, ["e"])
  }

  @Test("Retained versions count as live, to the byte.") func keptVersionsCountAsLiveToTheByte() throws {
    let store = try open()
    try retain(store, 3)
    for round in 0..<6 {
      for row in 0..<50 as Range<Int64> {
        try write(store, row % 5 == Int64(round % 5) ? "-" : "value \(round)", at: .integer(row))
      }
    }
    let live = store.statistics.liveBytes
    let again = try open(machine.kill())
    #expect(again.statistics.liveBytes == live)
    #expect(again.statistics.olderVersions == store.statistics.olderVersions)
    try store.compact(.everything)
    try store.compact(.everything)
    #expect(store.statistics.liveBytes <= live)
    #expect(store.statistics.deadBytes < 1000)
  }

  private func fill(_ store: Store, _ rows: Range<Int64>, round: UInt64 = 0) throws {
    let keyspace = try store.keyspace("others")
    // A segment has room for three such commits.
    for start in stride(from: rows.lowerBound, to: rows.upperBound, by: 20) {
      try store.write { batch in
        for row in start..<min(start + 20, rows.upperBound) {
          try batch.put(.noise(900, seed: UInt64(row) ^ round << 32), at: .integer(row), in: keyspace)
        }
      }
    }
  }

  @Test(
    "G8: Versions removed by a lower retention do not return if their tombstone is compacted first."
  )
  func tombstoneOfALoweredRetention() throws {
    let store = try open()
    try retain(store, 3)
    try write(store, "a")
    try fill(store, 0..<60)
    try fill(store, 100..<120)
    try write(store, "-")
    try fill(store, 120..<180)
    // The value and its tombstone are copied to different segments.
    try store.compact(.everything)
    #expect(try history(store) == ["-", "a"])
    try retain(store, 1)
    try fill(store, 100..<180, round: 1)
    #expect(try store.compact().segments > 0)
    let again = try open(machine.kill())
    #expect(try again.get("k", in: again.keyspace("rows")) == nil)
    #expect(try history(open(machine.kill())) == [])
  }

  @Test("G8: A row that was deleted before a retention was raised does not return.")
  func tombstoneBeforeARaisedRetention() throws {
    let store = try open()
    try write(store, "a")
    try fill(store, 0..<60)
    try fill(store, 100..<120)
    try write(store, "-")
    try fill(store, 120..<180)
    try retain(store, 3)
    try write(store, "b")
    try fill(store, 100..<180, round: 1)
    #expect(try store.compact().segments > 0)
    #expect(try history(store) == ["b"])
    #expect(try history(open(machine.kill())) == ["b"])
  }

  @Test("Rows are counted correctly after opening from a checkpoint with tombstones that compaction has removed since.")
  func vacated() throws {
    let store = try open()
    try retain(store, 2)
    try write(store, "a", "-")
    try fill(store, 0..<60)
    try store.checkpoint()
    try write(store, "b", "c")
    try fill(store, 0..<60, round: 1)
    try store.compact(.everything)
    #expect(try history(store) == ["c", "b"])
    let again = try open(machine.kill())
    #expect(again.recovery.checkpoint != nil)
    #expect(again.statistics.rows == 61)
    #expect(again.statistics.liveBytes == store.statistics.liveBytes)
    #expect(try history(again) == ["c", "b"])
  }

  /// Scans from both ends.
  private func expectRows(_ expected: [Key], in store: Store) throws {
    let rows = try store.keyspace("rows")
    for reverse in [false, true] {
      // In a tree that is out of order a scan might never end, hence the limit.
      let found = try store.read { try $0.rows(in: rows, reverse: reverse, limit: expected.count + 1) }
      #expect(found.map(\.key.description) == (reverse ? expected.reversed() : expected).map(\.description))
    }
  }

  @Test("Rows that were deleted after a checkpoint keep their places in the tree when it is opened.")
  func deletedBehindACheckpoint() throws {
    let store = try open()
    try retain(store, 4)
    // Enough rows for several leaves of a tree.
    let grid = (0..<400 as Range<Int64>).map { [.integer($0 / 20), .integer($0 % 20)] as Key }
    for row in grid { try write(store, "a", at: row) }
    try store.checkpoint()
    // Compared only by the second components of their keys, these rows would be in reverse order.
    let deleted = (0..<20 as Range<Int64>).map { [.integer($0), .integer(19 - $0)] as Key }
    for row in deleted { try write(store, "-", at: row) }
    // These rows alone would suggest that all keys begin with the same component.
    let new: [Key] = [[20, 0], [20, 1]]
    for row in new { try write(store, "a", at: row) }
    try store.close()

    let again = try open()
    #expect(again.recovery.checkpoint != nil)
    try expectRows(grid.filter { !deleted.contains($0) } + new, in: again)
    for row in deleted { try write(again, "b", at: row) }
    try expectRows(grid + new, in: again)
  }

  @Test func goingBackShowsTheHistoryOfThatCommit() throws {
    let store = try open()
    try retain(store, 3)
    try write(store, "a", "b", "c")
    let then = store.lastSequence
    try write(store, "d")
    try retain(store, 1)
    var options = Self.options
    options.upTo = then
    #expect(try history(machine.kill().open(options)) == ["c", "b", "a"])
  }

  @Test("The manifest of a store whose retention was never set says nothing about retention.") func unused() throws {
    let store = try open()
    try write(store, "a", "b")
    try store.checkpoint()
    let manifest = try #require(machine.contents["\(Machine.path)/MANIFEST"])
    #expect(manifest[16..<24].allSatisfy { $0 == 0 })
    try retain(store, 2)
    let told = try #require(machine.contents["\(Machine.path)/MANIFEST"])
    #expect(told[16] == 2)
  }

  @Test func aThousandVersionsOfARow() throws {
    let store = try open()
    try retain(store, 1000)
    let keyspace = try store.keyspace("rows")
    for round in 0..<1500 { try store.put([UInt8]("\(round)"), at: "k", in: keyspace, .buffered) }
    try store.sync()
    try expectEverywhere(store, (500..<1500).reversed().map(String.init))
  }
}
