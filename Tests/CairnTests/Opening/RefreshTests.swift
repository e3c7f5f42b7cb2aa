import CairnSimulation
import Testing

@testable import Cairn

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A store that was opened for reading advances beside its writer.
@Suite struct RefreshTests {
  private let machine = Machine()

  private func reader() throws -> Store {
    var options = Machine.options
    options.access = .readOnly
    return try machine.open(options)
  }

  @Test("A refreshed reader has what a writer has that writes, compacts, drops and opens the store again.")
  func randomPrograms() throws {
    let seed = chooseSeed()
    for number in 0..<chooseRounds(500, debug: 60) {
      do {
        var program = try RefreshProgram(seed: seed &+ UInt64(number))
        try program.run(steps: 60)
      } catch {
        Issue.record("\(error), CAIRN_SEED=\(seed &+ UInt64(number)) CAIRN_ROUNDS=1")
        return
      }
    }
  }

  @Test("A reader sees new commits once it has been refreshed, all at once; its snapshots stay as they are.")
  func newCommits() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    try writer.put([UInt8]("1"), at: 1, in: rows)
    let reader = try reader()
    let seen = try reader.keyspace("rows")
    #expect(try reader.refresh() == writer.lastSequence)
    let before = reader.snapshot()
    try writer.put([UInt8]("2"), at: 2, in: rows, .buffered)
    try writer.delete(1, in: rows, .buffered)
    #expect(try reader.texts(seen) == ["1=1"])
    #expect(try reader.refresh() == writer.lastSequence)
    #expect(reader.lastSequence == writer.lastSequence)
    #expect(try reader.texts(seen) == ["2=2"])
    #expect(try before.rows(in: seen).map(\.key) == [1])
    #expect(try before.count(in: seen) == 1)
    before.close()
    #expect(try reader.get(1, in: seen) == nil)
    #expect(reader.statistics.olderVersions == 0)
    #expect(try reader.refresh() == writer.lastSequence)
  }

  @Test("A keyspace that a reader asked for before it was defined has its rows after a refresh.")
  func keyspaceDefinedLater() throws {
    let writer = try machine.open()
    try writer.put([UInt8]("1"), at: 1, in: writer.keyspace("others"))
    let reader = try reader()
    let rows = try reader.keyspace("rows", order: .unordered)
    let unused = try reader.keyspace("unused")
    #expect(try reader.get(1, in: rows) == nil)
    #expect(reader.keyspaces.map(\.name) == ["others"])
    #expect(rows.isBlank)
    let before = reader.snapshot()
    try writer.put([UInt8]("x"), at: 1, in: writer.keyspace("rows", order: .unordered))
    try reader.refresh()
    #expect(!rows.isBlank && unused.isBlank)
    #expect(try reader.get(1, in: rows) == [UInt8]("x"))
    #expect(try reader.row(1, in: rows)?.version == 1)
    #expect(try reader.contains(1, in: rows))
    #expect(try reader.withValue(1, in: rows) { $0.array } == [UInt8]("x"))
    #expect(try reader.texts(rows) == ["1=x"])
    try reader.read { (snapshot) throws -> Void in
      #expect(try snapshot.count(in: rows) == 1)
      #expect(try snapshot.get(many: [1, 2], in: rows) == [[UInt8]("x"), nil])
      #expect(try snapshot.get(1, in: rows) == [UInt8]("x"))
      #expect(try snapshot.history(of: 1, in: rows).count == 1)
      #expect(try snapshot.withValue(1, in: rows) { $0.array } == [UInt8]("x"))
    }
    #expect(try before.count(in: rows) == 0)
    #expect(try before.get(1, in: rows) == nil)
    #expect(try rows == reader.keyspace("rows", order: .unordered))
    #expect(try rows.id == writer.keyspace("rows", order: .unordered).id)
    #expect(try reader.texts(unused) == [])
  }

  @Test("A row is deleted by a refresh even if compaction has dropped its tombstone.")
  func droppedTombstone() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    for key in 0..<20 as Range<Int64> { try writer.put([UInt8]("value"), at: .integer(key), in: rows) }
    let reader = try reader()
    let seen = try reader.keyspace("rows")
    let before = reader.snapshot()
    for key in 0..<10 as Range<Int64> { try writer.delete(.integer(key), in: rows) }
    try writer.compact(.everything)
    try writer.compact(.everything)
    #expect(writer.statistics.tombstoneBytes == 0)
    try reader.refresh()
    #expect(try reader.read { try $0.rows(in: seen).map(\.key) } == (10..<20).map { .integer($0) })
    #expect(try reader.read { try $0.count(in: seen) } == 10)
    #expect(try before.rows(in: seen).count == 20)
    try writer.put([UInt8]("again"), at: 3, in: rows)
    try reader.refresh()
    #expect(try reader.get(3, in: seen) == [UInt8]("again"))
    #expect(try before.get(3, in: seen) == [UInt8]("value"))
    // The snapshot needs segments that have no files any more.
    try reader.refresh()
    #expect(try before.rows(in: seen).count == 20)
    before.close()
    try reader.refresh()
    #expect(reader.statistics.olderVersions == 0)
    #expect(reader.statistics.pinnedBytes == 0)
  }

  @Test("A frame of which only a part has been written is not seen.") func halfAFrame() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    try writer.put([UInt8]("1"), at: 1, in: rows)
    let reader = try reader()
    let path = Machine.segment(1)
    let before = try #require(machine.files.contents[path])
    try writer.put([UInt8](repeating: 7, count: 300), at: 2, in: rows, .buffered)
    let after = try #require(machine.files.contents[path])
    let file = try machine.files.open(path, .readWrite)
    let changed = after.indices.filter { $0 >= before.count || before[$0] != after[$0] }
    let frame = try #require(changed.first)..<(try #require(changed.last) + 1)
    try file.writeAll([UInt8](repeating: 0, count: frame.count), at: frame.lowerBound)
    for length in stride(from: 0, to: frame.count, by: 7) {
      try file.writeAll(Array(after[frame.lowerBound..<frame.lowerBound + length]), at: frame.lowerBound)
      try reader.refresh()
      #expect(try reader.get(2, in: reader.keyspace("rows")) == nil)
    }
    try file.writeAll(Array(after[frame]), at: frame.lowerBound)
    try reader.refresh()
    #expect(try reader.get(2, in: reader.keyspace("rows"))?.count == 300)
  }

  @Test("A segment after a frame that is not complete is read once the frame is.") func segmentAfterHalfAFrame() throws
  {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    try writer.put([UInt8]("1"), at: 1, in: rows, .buffered)
    let reader = try reader()
    for key in 2..<200 as Range<Int64> { try writer.put(.noise(600), at: .integer(key), in: rows, .buffered) }
    // The last byte of the value of the first new frame.
    let path = Machine.segment(1)
    let end = reader.segmentStatistics[0].end
    let file = try machine.files.open(path, .readWrite)
    let byte = try #require(machine.files.contents[path]?[end + 600])
    try file.writeAll([byte ^ 1], at: end + 600)
    try reader.refresh()
    #expect(reader.lastSequence == 1)
    try file.writeAll([byte], at: end + 600)
    #expect(try reader.refresh() == writer.lastSequence)
    let seen = try reader.keyspace("rows")
    #expect(try reader.read { try $0.count(in: seen) } == 199)
  }

  @Test("A segment that begins with a commit longer than a segment is followed.") func longFrame() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    try writer.put([UInt8]("1"), at: 1, in: rows)
    let reader = try reader()
    let long = [UInt8].noise(200_000)
    try writer.put(long, at: 2, in: rows)
    try reader.refresh()
    try writer.put([UInt8]("3"), at: 3, in: rows)
    try reader.refresh()
    #expect(try reader.get(2, in: reader.keyspace("rows")) == long)
    #expect(try reader.get(3, in: reader.keyspace("rows")) == [UInt8]("3"))
  }

  @Test("A refresh that meets damage throws and changes nothing; it succeeds once the damage is mended.")
  func damage() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    try writer.put([UInt8]("1"), at: 1, in: rows)
    let reader = try reader()
    for key in 2..<400 as Range<Int64> { try writer.put(.noise(400), at: .integer(key), in: rows, .buffered) }
    machine.runBackground()
    try writer.sync()
    let path = Machine.segment(2)
    let file = try machine.files.open(path, .readWrite)
    let byte = try #require(machine.files.contents[path]?[1000])
    try file.writeAll([byte ^ 1], at: 1000)
    #expect(failure { try reader.refresh() }?.code == .corrupted)
    #expect(try reader.texts(reader.keyspace("rows")) == ["1=1"])
    try file.writeAll([byte], at: 1000)
    #expect(try reader.refresh() == writer.lastSequence)
    let seen = try reader.keyspace("rows")
    #expect(try reader.read { try $0.count(in: seen) } == 399)
  }

  @Test("A reader that is ahead of a store that was taken back is told to open the store again.")
  func takenBack() throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    let first = try writer.put([UInt8]("1"), at: 1, in: rows)
    try writer.put([UInt8]("2"), at: 2, in: rows)
    let reader = try reader()
    try writer.close()
    var options = Machine.options
    options.upTo = first
    let back = try machine.open(options)
    // Nothing changes before the first write.
    try reader.refresh()
    try back.put([UInt8]("3"), at: 3, in: back.keyspace("rows"))
    try back.compact(.everything)
    #expect(failure { try reader.refresh() }?.code == .replaced)
    #expect(try reader.texts(reader.keyspace("rows")) == ["1=1", "2=2"])
    let again = try self.reader()
    #expect(try again.texts(again.keyspace("rows")) == ["1=1", "3=3"])
    try back.close()
    let later = try machine.open()
    try later.put([UInt8]("4"), at: 4, in: later.keyspace("rows"))
    try again.refresh()
    #expect(try again.texts(again.keyspace("rows")) == ["1=1", "3=3", "4=4"])
  }

  @Test(
    "A refresh in which a call of the file system fails throws and changes nothing.",
    arguments: [MemoryFileLayer.Operation.openDirectory, .open, .size, .read, .map])
  func failures(_ operation: MemoryFileLayer.Operation) throws {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    try writer.put([1], at: 0, in: rows)
    let reader = try reader()
    let seen = try reader.keyspace("rows")
    var struck = 0
    for call in 0..<1000 {
      for key in 0..<20 as Range<Int64> { try writer.put(.noise(900), at: .integer(key), in: rows, .buffered) }
      try writer.delete(.integer(Int64(call % 20)), in: rows)
      if call % 2 == 0 { try writer.compact(.everything) }
      let before = try reader.read { try $0.rows(in: seen) }
      machine.files.strikeNext(operation, after: call, .fails(.system(5)), label: "refresh")
      let error = failure { try reader.refresh() }
      guard machine.files.struck("refresh") > struck else {
        #expect(error == nil && call > 0)
        return
      }
      struck += 1
      #expect(error?.code == .inputOutput, "\(call)")
      #expect(try reader.read { try $0.rows(in: seen) } == before)
      try reader.refresh()
      #expect(try reader.read { try $0.rows(in: seen) } == writer.read { try $0.rows(in: rows) })
    }
  }

  @Test("A reader that follows for long takes no more memory, and as many segments as the writer.") func longLife()
    throws
  {
    let writer = try machine.open()
    let rows = try writer.keyspace("rows")
    let reader = try reader()
    var bytes = 0
    for round in 0..<900 {
      try writer.write(durability: .buffered) { batch in
        for key in 0..<40 as Range<Int64> {
          try batch.put(.noise(90, seed: UInt64(round)), at: .integer(key + Int64(round % 7) * 40), in: rows)
        }
        try batch.delete(.integer(Int64(round * 13 % 280)), in: rows)
      }
      if round % 10 == 9 { try writer.compact() }
      let snapshot = reader.snapshot()
      try reader.refresh()
      if round % 3 == 0 { try reader.refresh() }
      snapshot.close()
      if round == 300 { bytes = reader.statistics.indexBytes }
    }
    try reader.refresh()
    #expect(reader.statistics.indexBytes <= bytes)
    #expect(reader.statistics.retiredBytes == 0)
    #expect(reader.statistics.olderVersions == 0)
    #expect(reader.segmentStatistics.map(\.id) == writer.segmentStatistics.map(\.id))
    #expect(reader.index.table.extentCount < 40)
  }

  @Test("A refresh is refused where there is nothing to advance to.") func refused() throws {
    let writer = try machine.open()
    let first = try writer.put([UInt8]("1"), at: 1, in: writer.keyspace("rows"))
    #expect(try writer.refresh() == first)
    var options = Machine.options
    options.access = .readOnly
    options.upTo = first
    let past = try machine.open(options)
    #expect(failure { try past.refresh() }?.code == .invalidArgument)
    let reader = try reader()
    try reader.close()
    #expect(failure { try reader.refresh() }?.code == .closed)
  }

  @Test("A refresh notices that another directory is at the path, or none.") func replacedDirectory() throws {
    try withTemporaryDirectory { folder in
      func open(_ path: String, _ access: StoreOptions.Access) throws -> Store {
        var options = Machine.options
        options.access = access
        return try Store.open(at: path, options: options)
      }
      let (path, elsewhere) = ("\(folder)/store", "\(folder)/elsewhere")
      let writer = try open(path, .readWrite)
      try writer.put([UInt8]("1"), at: 1, in: writer.keyspace("rows"))
      let reader = try open(path, .readOnly)
      try writer.close()
      #expect(unsafe rename(path, elsewhere) == 0)
      #expect(failure { try reader.refresh() }?.code == .notFound)
      let other = try open(path, .readWrite)
      #expect(failure { try reader.refresh() }?.code == .replaced)
      #expect(try reader.texts(reader.keyspace("rows")) == ["1=1"])
      try other.close()
      #expect(unsafe rename(path, "\(folder)/other") == 0)
      #expect(unsafe rename(elsewhere, path) == 0)
      try reader.refresh()
    }
  }
}
