import CairnSimulation
import Testing

@testable import Cairn
@testable import CairnInspection

@Suite("Dictionaries that are damaged or lost") struct DictionaryDamageTests {
  /// Changes the dictionary's record, `change` being given where its key begins, and makes all checksums right.
  private func damaged(_ change: (inout [UInt8], _ key: Int) -> Void) throws -> Machine {
    let machine = try TrainedStore.machine()
    for path in machine.contents.keys.filter({ $0.hasSuffix(".segment") }).sorted() {
      var place: Int?
      try machine.rewrite(path) { bytes in
        guard case .header(let header) = unsafe bytes.withUnsafeBytes({ unsafe SegmentHeader.read($0) }) else { return }
        var offset = SegmentHeader.size
        unsafe bytes.withUnsafeBytes { raw in
          while let frame = unsafe FrameView(
            raw.baseAddress! + offset, available: raw.count - offset, offset: offset, seed: header.seed,
            baseSequence: header.baseSequence)
          {
            frame.forEachRecord { record, offset in
              if record.header.kind == .dictionary { place = offset + record.header.length }
            }
            offset += frame.header.length
          }
        }
        guard let place else { return }
        change(&bytes, place)
        Mending.segment(&bytes)
      }
      if place != nil { return machine }
    }
    Issue.record("there is no dictionary")
    return machine
  }

  private func expectErrorsForItsValuesOnly(_ machine: Machine, _ location: SourceLocation = #_sourceLocation) throws {
    let store = try machine.open(TrainedStore.options)
    let keyspace = try store.keyspace("rows")
    #expect(try store.get(.integer(0), in: keyspace) == TrainedStore.value(0), sourceLocation: location)
    let number = Key.integer(TrainedStore.first + 3)
    #expect(failure { _ = try store.get(number, in: keyspace) }?.code == .corrupted, sourceLocation: location)
    #expect(
      failure { _ = try store.withValue(number, in: keyspace) { $0.byteCount } }?.code == .corrupted,
      sourceLocation: location)
    #expect(try store.contains(number, in: keyspace), sourceLocation: location)
    try store.put([UInt8]("new"), at: number, in: keyspace)
    #expect(try store.get(number, in: keyspace) == [UInt8]("new"), sourceLocation: location)
    try store.close()
    let damage = try Verifier(at: Machine.path, files: machine.files).run().damage
    #expect(damage.count { $0.kind == .value } == 1, "\(damage.count)", sourceLocation: location)
    let words = "200 values, of which this is the first, need dictionary 1 of keyspace 1, which is missing"
    #expect(damage.contains { $0.words == words }, "\(damage.prefix(3))", sourceLocation: location)
  }

  @Test("A damaged record does not make the verifier miss the dictionary in the same frame.") func sameFrame() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    try store.compact(.everything)
    try store.close()
    // The place of the first row after the dictionary in the dictionary's frame.
    var place: (name: String, offset: Int)?
    let log = try LogReader(StoreDirectory(Machine.path, files: machine.files))
    for entry in log.entries {
      guard let segment = try log.segment(entry) else { continue }
      segment.forEachPiece { piece in
        guard case .frame(let frame) = piece else { return true }
        var hasDictionary = false
        frame.forEachRecord { record, offset in
          if hasDictionary, place == nil, record.header.isPut { place = (segment.name, offset) }
          if record.header.kind == .dictionary { hasDictionary = true }
        }
        return true
      }
    }
    let (name, offset) = try #require(place)
    try machine.rewrite("\(Machine.path)/\(name)") { $0[offset + 40] ^= 1 }
    let damage = try Verifier(at: Machine.path, files: machine.files).run().damage
    #expect(damage.map(\.kind) == [.record], "\(damage.count), \(damage.prefix(3))")
    #expect(damage.map(\.offset) == [offset])
  }

  @Test func aMissingDictionaryIsAnErrorForItsValuesOnly() throws {
    try expectErrorsForItsValuesOnly(damaged { bytes, key in bytes[key] = 77 })
    try expectErrorsForItsValuesOnly(damaged { bytes, key in bytes[key] = 0 })
    try expectErrorsForItsValuesOnly(damaged { bytes, key in bytes[key + 3] = 0xFF })
  }

  @Test func aDictionaryThatCannotBeDecompressedIsAnErrorForItsValuesOnly() throws {
    try expectErrorsForItsValuesOnly(damaged { bytes, key in for byte in 4..<12 { bytes[key + byte] = 0xFF } })
  }

  @Test("A follower of commits searches the log only once for a dictionary that is lost.") func following() throws {
    let machine = try damaged { bytes, key in bytes[key] = 77 }
    var follower = CommitFollower(at: Machine.path, files: machine.files, after: 0)
    let opened = machine.files.count(of: .open)
    var unreadable = 0
    try follower.news { news in
      if case .commit(let commit) = news {
        unreadable += commit.changes.count { $0.record.kind == .put && $0.value == nil }
      }
      return .next
    }
    #expect(unreadable > 100)
    #expect(machine.files.count(of: .open) - opened < unreadable)
  }

  @Test("A version in the log that cannot be read does not hide the other versions.") func versionsInTheLog() throws {
    let machine = try damaged { bytes, key in bytes[key] = 77 }
    let store = try machine.open(TrainedStore.options)
    let rows = try store.keyspace("rows")
    let number = Key.integer(TrainedStore.first)
    let first = try #require(try store.row(0, in: rows))
    let sequence = try store.put([UInt8]("new"), at: number, in: rows)
    try store.delete(number, in: rows)
    let log = try LogReader(StoreDirectory(Machine.path, files: machine.files))
    let (versions, unreadable) = try RowVersion.all(of: number, in: rows, log)
    #expect(versions.map(\.value) == [nil, [UInt8]("new")])
    #expect(versions.map(\.sequence) == [sequence + 1, sequence])
    #expect(unreadable.count == 1 && unreadable[0] < sequence)
    #expect(try RowVersion.all(of: first.key, in: rows, log).versions.map(\.value) == [first.value])
  }

  @Test func aCheckpointOverADamagedDictionaryOpensAllTheSame() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    try store.checkpoint()
    let length = store.statistics.dictionaryBytes
    try store.close()
    let path = try #require(machine.contents.keys.first { $0.hasSuffix(".checkpoint") })
    // The file ends with the dictionary: id, keyspace, length, one segment that uses it, padding, bytes.
    for change in [0, 4, 8, 12, 16, 20] as [Int] {
      let other = try machine.kill()
      try other.rewrite(path) { bytes in
        bytes[bytes.count - Format.padded(length) - 24 + change] ^= 2
        Mending.checkpoint(&bytes)
      }
      let again = try other.open(TrainedStore.options)
      let value = try? again.get(.integer(TrainedStore.first + 3), in: again.keyspace("rows"))
      #expect(value == nil || value == TrainedStore.value(Int(TrainedStore.first) + 3))
      #expect(try again.get(.integer(0), in: again.keyspace("rows")) == TrainedStore.value(0))
    }
  }
}
