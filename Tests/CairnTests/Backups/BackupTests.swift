import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// What a backup contains, what travels, and which directories are refused.
@Suite struct BackupTests {
  private let machine = Machine()

  private func fill(_ store: Store, _ rows: Range<Int64>, round: UInt64 = 0, length: Int = 1000) throws {
    let keyspace = try store.keyspace("rows")
    for row in rows {
      try store.put(.noise(length, seed: UInt64(row) ^ round << 32), at: .integer(row), in: keyspace, .buffered)
      machine.runBackground()
    }
  }

  private func expectEqual(_ store: Store) throws {
    #expect(try machine.state(at: Machine.backup) == StoreState(store))
    #expect(try Verifier(at: Machine.backup, files: machine.files).run().findings.map { "\($0)" } == [])
  }

  @Test("G26: A backup contains all commits that were made before it, durable or not.", arguments: [true, false])
  func contents(linksFiles: Bool) throws {
    let store = try machine.open()
    try fill(store, 0..<300)
    let last = store.lastSequence
    let report = try store.backup(to: Machine.backup, linksFiles: linksFiles)
    #expect(report.lastSequence == last)
    #expect(store.durableSequence == last)
    #expect(report.linked.count == (linksFiles ? 4 : 0))
    #expect(report.copied.count == (linksFiles ? 1 : 5))
    #expect(report.linked.bytes + report.copied.bytes == store.statistics.logBytes)
    try expectEqual(store)
    // What is written later is not in it.
    try fill(store, 300..<600)
    let backup = try machine.reader(at: Machine.backup)
    #expect(backup.lastSequence == last)
    #expect(backup.identity == store.identity)
    #expect(try backup.keyspace("rows").count() == 300)
  }

  @Test("G26: A later backup in the same directory copies only what is new, and removes what is not needed any more.")
  func again() throws {
    let store = try machine.open()
    try fill(store, 0..<300)
    let first = try store.backup(to: Machine.backup)
    let before = store.statistics.logBytes
    let nothing = try store.backup(to: Machine.backup)
    #expect(nothing.linked.count == 0 && nothing.copied.count == 0 && nothing.removed.count == 0)
    #expect(nothing.present.bytes == before)
    // The active segment has grown by these rows alone.
    try fill(store, 300..<303)
    let second = try store.backup(to: Machine.backup)
    #expect(second.copied.count == 1)
    #expect(second.copied.bytes == store.statistics.logBytes - before)
    #expect(second.present.bytes == before)
    #expect(second.lastSequence > first.lastSequence)
    try expectEqual(store)
    try fill(store, 0..<303, round: 1)
    try store.compact()
    let third = try store.backup(to: Machine.backup)
    #expect(third.removed.count >= 4)
    let segments = try machine.names(at: Machine.backup).filter { $0.hasSuffix(".segment") }
    #expect(segments.count == third.present.count + third.linked.count + third.copied.count)
    try expectEqual(store)
  }

  @Test("G26: A directory that has anything but an earlier backup of the store is refused and stays as it is.")
  func refusedDirectories() throws {
    let store = try machine.open()
    try fill(store, 0..<100)
    let other = try machine.openOther(at: "/other")
    try other.put([1], at: 1, in: other.keyspace("rows"))
    try other.backup(to: "/backup of other")
    try other.close()
    try machine.files.createDirectory("/files")
    try machine.files.open("/files/notes", .create).close()
    try machine.files.open("/file", .create).close()
    try machine.files.createDirectory("/raw")
    for name in try machine.names(at: Machine.path) {
      let copy = try machine.files.open("/raw/\(name)", .create)
      try copy.writeAll(machine.files.contents["\(Machine.path)/\(name)"] ?? [], at: 0)
    }
    let before = machine.files.contents
    for path in [Machine.path, "/other", "/backup of other", "/files", "/file", "/raw"] {
      #expect(failure { try store.backup(to: path) }?.code == .alreadyExists, "\(path)")
    }
    #expect(machine.files.contents.filter { before[$0.key] != $0.value }.keys.sorted() == [])
  }

  @Test("G26: A backup cannot be opened for writing.") func notForWriting() throws {
    let store = try machine.open()
    try fill(store, 0..<10)
    try store.backup(to: Machine.backup)
    let before = machine.files.contents
    let refusal = failure { _ = try machine.openOther(at: Machine.backup) }
    #expect(refusal?.code == .backup)
    #expect(refusal?.message.contains("Store.restore") == true)
    #expect(machine.files.contents.filter { before[$0.key] != $0.value }.keys.sorted() == [])
  }

  @Test("Two backups into one directory do not run at once.") func locked() throws {
    let store = try machine.open()
    try fill(store, 0..<10)
    var codes: [StoreError.Code?] = []
    try store.backup(to: Machine.backup) { _ in
      codes.append(failure { try store.backup(to: Machine.backup) }?.code)
      return true
    }
    #expect(codes == [.locked])
    try store.backup(to: Machine.backup)
    try expectEqual(store)
  }

  @Test("G26: A cancelled backup leaves nothing, or the earlier backup.") func cancelled() throws {
    let store = try machine.open()
    try fill(store, 0..<10)
    let empty = try machine.files.list("/")
    #expect(failure { try store.backup(to: Machine.backup) { _ in false } }?.code == .cancelled)
    #expect(try machine.files.list("/") == empty)
    try store.backup(to: Machine.backup)
    let earlier = try StoreState(store)
    let names = try machine.names(at: Machine.backup)
    try fill(store, 0..<200, round: 1)
    #expect(failure { try store.backup(to: Machine.backup, linksFiles: false) { _ in false } }?.code == .cancelled)
    #expect(try machine.names(at: Machine.backup) == names)
    #expect(try machine.state(at: Machine.backup) == earlier)
    try store.backup(to: Machine.backup)
    try expectEqual(store)
  }

  @Test("Segments that compaction replaces during a backup are in the backup, and count as retired until it ends.")
  func besideCompaction() throws {
    let store = try machine.open()
    try fill(store, 0..<300)
    try fill(store, 0..<150, round: 1)
    let expected = try StoreState(store)
    let last = store.lastSequence
    var retired: [Int] = []
    try store.backup(to: Machine.backup, linksFiles: false) { _ in
      if retired.isEmpty {
        for row in 0..<300 as Range<Int64> { _ = try? store.delete(.integer(row), in: store.keyspace("rows")) }
        _ = try? store.compact()
      }
      retired.append(store.statistics.retiredBytes)
      return true
    }
    #expect(retired.first ?? 0 > 300_000)
    machine.runBackground()
    #expect(store.statistics.retiredBytes == 0)
    let backup = try machine.reader(at: Machine.backup)
    #expect(backup.lastSequence == last)
    #expect(try StoreState(backup) == expected)
  }

  @Test("A file that cannot be linked is copied.") func withoutLinks() throws {
    let store = try machine.open()
    try fill(store, 0..<300)
    machine.files.failNext(.link, after: 1, with: .notFound)
    machine.files.failNext(.link, after: 3, with: .system(18))
    let report = try store.backup(to: Machine.backup)
    #expect(report.linked.count == 2)
    #expect(report.copied.count == 3)
    try expectEqual(store)
  }

  @Test("A store that is opened for reading can be backed up beside its writer, and later by the writer.")
  func fromAReader() throws {
    let store = try machine.open()
    try fill(store, 0..<100)
    let reader = try machine.reader(at: Machine.path)
    let expected = try StoreState(reader)
    try fill(store, 0..<300, round: 1)
    try store.compact()
    // The files of the reader's segments are gone.
    try reader.backup(to: Machine.backup)
    #expect(try machine.state(at: Machine.backup) == expected)
    try store.backup(to: Machine.backup)
    try expectEqual(store)
    let past = try machine.reader(at: Machine.path, upTo: store.lastSequence)
    #expect(failure { try past.backup(to: "/past") }?.code == .invalidArgument)
  }

  @Test("A store that was taken back is backed up into the directory of its earlier backups.") func takenBack() throws {
    var store = try machine.open()
    try fill(store, 0..<150)
    let past = store.lastSequence
    try fill(store, 150..<400)
    try store.backup(to: Machine.backup)
    try store.close()
    var options = Machine.options
    options.upTo = past
    store = try machine.open(options)
    let report = try store.backup(to: Machine.backup)
    #expect(report.lastSequence == past)
    try expectEqual(store)
    try fill(store, 0..<30, round: 2)
    try store.backup(to: Machine.backup)
    try expectEqual(store)
    #expect(try store.keyspace("rows").count() == 150)
  }

  @Test("A backup of an older state is not put in the place of a newer one.") func older() throws {
    var store = try machine.open()
    try fill(store, 0..<30)
    try store.close()
    let past = machine.files.contents
    store = try machine.open()
    try fill(store, 30..<60)
    try store.backup(to: Machine.backup)
    try store.close()
    for name in try machine.names(at: Machine.path) { try machine.files.remove("\(Machine.path)/\(name)") }
    for (path, bytes) in past {
      let file = try machine.files.open(path, .create)
      try file.writeAll(bytes, at: 0)
    }
    store = try machine.open()
    #expect(failure { try store.backup(to: Machine.backup) }?.code == .alreadyExists)
    // Another life of the same numbers.
    try fill(store, 60..<90)
    #expect(failure { try store.backup(to: Machine.backup) }?.code == .alreadyExists)
  }

  @Test("A segment that was copied while it was growing is linked once it is sealed, even if that was interrupted.")
  func linkedLater() throws {
    let store = try machine.open()
    try fill(store, 0..<30)
    #expect(try store.backup(to: Machine.backup).copied.count == 1)
    try fill(store, 30..<100)
    // All but the manifest of the next backup.
    machine.files.failNext(.rename, after: 2, with: .system(5))
    #expect(failure { try store.backup(to: Machine.backup) }?.code == .inputOutput)
    let source = machine.files.contents["\(Machine.path)/0000000001.segment"]
    // A copy must not be written into the file of the store.
    let copied = try store.backup(to: Machine.backup, linksFiles: false)
    #expect(copied.copied.count == 2)
    #expect(copied.copied.bytes == store.statistics.logBytes)
    try expectEqual(store)
    try fill(store, 100..<130)
    let report = try store.backup(to: Machine.backup)
    #expect(report.linked.count == 1)
    #expect(report.copied.count == 1)
    try expectEqual(store)
    #expect(machine.files.contents["\(Machine.path)/0000000001.segment"] == source)
  }

  @Test("A damaged file of a backup is copied once more.") func damagedFile() throws {
    let store = try machine.open()
    try fill(store, 0..<300)
    try store.backup(to: Machine.backup, linksFiles: false)
    try machine.rewrite("\(Machine.backup)/0000000001.segment") { $0.removeLast(100) }
    try machine.files.remove("\(Machine.backup)/0000000002.segment")
    #expect(try store.backup(to: Machine.backup).linked.count == 2)
    try expectEqual(store)
  }

  @Test("Who has a backup open when a newer one is made reads on, and is told so by `refresh()`.")
  func readerOfABackup() throws {
    let store = try machine.open()
    try fill(store, 0..<300)
    try store.backup(to: Machine.backup)
    let reader = try machine.reader(at: Machine.backup)
    let before = try StoreState(reader)
    try reader.refresh()
    try fill(store, 0..<300, round: 1)
    try store.compact()
    try store.backup(to: Machine.backup)
    #expect(try StoreState(reader) == before)
    #expect(failure { try reader.refresh() }?.code == .replaced)
    #expect(try StoreState(reader) == before)
  }

  @Test("An empty store and a closed one.") func edges() throws {
    let store = try machine.open()
    #expect(try store.backup(to: Machine.backup).lastSequence == 0)
    #expect(try machine.state(at: Machine.backup) == StoreState(store))
    try fill(store, 0..<3)
    try store.backup(to: Machine.backup)
    try expectEqual(store)
    try store.close()
    #expect(failure { try store.backup(to: Machine.backup) }?.code == .closed)
  }

  @Test("Backing up a store that has not been written to since it was opened begins no epoch.") func unwritten() throws
  {
    try fill(try machine.open(), 0..<100)
    let next = machine.afterKill()
    let store = try next.open()
    let before = next.contents
    try store.backup(to: Machine.backup)
    #expect(next.contents.filter { $0.key.hasPrefix(Machine.path) && before[$0.key] != $0.value }.keys.sorted() == [])
    #expect(try next.state(at: Machine.backup) == StoreState(store))
  }
}
