import CairnSimulation
import Testing

@testable import Cairn
@testable import CairnInspection

@Suite struct DictionaryTests {
  private static let count = 2600

  /// Values that hardly repeat anything inside themselves but have much in common with each other.
  private static func value(_ number: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(number))
    let words = (0..<24).map { _ in "field-\((random.next() % 400 + 1) &* 0x9E37_79B9_7F4A_7C15):\(random.next() % 100)"
    }
    return [UInt8]("{\(words.joined(separator: ","))}")
  }

  private static func fill(_ store: Store, _ range: Range<Int>, _ value: @escaping (Int) -> [UInt8] = value) throws {
    let rows = try store.keyspace("rows")
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 100) {
      try store.write(durability: .buffered) { batch in
        for number in start..<min(start + 100, range.upperBound) {
          try batch.put(value(number), at: .integer(Int64(number)), in: rows)
        }
      }
    }
  }

  private static var options: StoreOptions {
    var options = Machine.options
    options.writesCheckpoints = false
    return options
  }

  /// A machine whose store has a dictionary, and rows from before and after the dictionary.
  private static let trained: Result<Machine, any Error> = Result {
    let machine = Machine()
    let store = try machine.open(options)
    try fill(store, 0..<count)
    machine.runBackground()
    try fill(store, count..<count + 200)
    try store.sync()
    try store.close()
    return machine
  }

  /// The key of the first value that is compressed with the dictionary.
  private static let first = Int64(count)

  private func machine() throws -> Machine { try Self.trained.get().kill() }

  private func check(_ store: Store, rows: Int = count + 200) throws {
    let keyspace = try store.keyspace("rows")
    let values = try store.read { snapshot in
      try snapshot.get(many: (0..<rows).map { .integer(Int64($0)) }, in: keyspace)
    }
    let wrong = (0..<rows).filter { values[$0] != Self.value($0) }
    #expect(wrong.isEmpty)
    var scanned: [[UInt8]] = []
    try keyspace.scan { _, value, _ in
      scanned.append(unsafe value.withUnsafeBytes { unsafe Array($0) })
      return .next
    }
    #expect(scanned == values)
    #expect(store.statistics.rows == rows)
  }

  @Test("The background thread is notified once when a training is due.")
  func theBackgroundHearsOnceThatATrainingIsDue() throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    let rows = try store.keyspace("rows")
    for number in 0..<Self.count { try store.put(Self.value(number), at: .integer(Int64(number)), in: rows, .buffered) }
    var pieces = 0
    while machine.runOneInBackground() { pieces += 1 }
    #expect(store.statistics.dictionaries > 0)
    #expect(pieces < Self.count / 4)
    try store.close()
  }

  @Test("A keyspace of similar values gets a dictionary.") func valuesThatAreAlikeGetADictionary() throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<Self.count)
    #expect(store.statistics.dictionaries == 0)
    let before = store.statistics
    machine.runBackground()
    #expect(store.statistics.dictionaries == 1)
    #expect(store.statistics.dictionaryBytes > 1000)
    #expect(store.lastSequence == before.lastSequence + 1)
    try Self.fill(store, Self.count..<Self.count + 200)
    let raw = store.statistics.rawValueBytes - before.rawValueBytes
    let stored = store.statistics.storedValueBytes - before.storedValueBytes
    #expect(Double(stored) / Double(raw) < before.compressionRatio * 0.8)
    try check(store)
  }

  @Test("Values with a dictionary can be read in every way.") func everyWayOfReadingKnowsTheDictionary() throws {
    let store = try machine().open(Self.options)
    let keyspace = try store.keyspace("rows")
    let number = Self.first + 7
    let value = Self.value(Int(number))
    #expect(try store.get(.integer(number), in: keyspace) == value)
    #expect(try store.row(.integer(number), in: keyspace)?.value == value)
    #expect(try store.withValue(.integer(number), in: keyspace) { $0.array } == value)
    try store.read { snapshot in
      #expect(try snapshot.get(.integer(number), in: keyspace) == value)
      #expect(try snapshot.row(.integer(number), in: keyspace)?.value == value)
      #expect(try snapshot.withValue(.integer(number), in: keyspace) { $0.array } == value)
      #expect(try snapshot.get(many: [.integer(number), .integer(-1)], in: keyspace) == [value, nil])
      #expect(try snapshot.rows(in: keyspace, reverse: true, limit: 1).first?.value == Self.value(Self.count + 199))
      var seen = 0
      try snapshot.scan(in: keyspace) { _, bytes, _ in
        if bytes.array == Self.value(seen) { seen += 1 }
        return .next
      }
      #expect(seen == Self.count + 200)
    }
  }

  @Test("An unordered keyspace can have a dictionary, too.") func anUnorderedKeyspaceHasOneToo() throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    let heap = try store.keyspace("heap", order: .unordered)
    for number in 0..<Self.count { try store.put(Self.value(number), at: .integer(Int64(number)), in: heap, .buffered) }
    machine.runBackground()
    try store.put(Self.value(9999), at: "last", in: heap)
    #expect(store.statistics.dictionaries == 1)
    #expect(try store.get("last", in: heap) == Self.value(9999))
    var seen = 0
    try store.read {
      try $0.scan(in: heap) { _, _, _ in
        seen += 1; return .next
      }
    }
    #expect(seen == Self.count + 1)
  }

  @Test("A reopened store continues to use its dictionary.") func reopeningGoesOnWithIt() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    #expect(store.statistics.dictionaries == 1)
    try check(store)
    try Self.fill(store, Self.count + 200..<Self.count + 300)
    #expect(store.statistics.compressionRatio < 0.5)
    let again = try machine.kill().open(Self.options)
    #expect(again.statistics.dictionaries == 1)
    try check(again, rows: Self.count + 300)
  }

  @Test("A checkpoint has a copy of the dictionary.") func aCheckpointKnowsWhereItIs() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    try store.checkpoint()
    try Self.fill(store, Self.count + 200..<Self.count + 300)
    try store.sync()
    let next = machine.crash()
    let again = try next.open(Self.options)
    #expect(again.recovery.checkpoint != nil && again.recovery.records == 100, "\(again.recovery.ignoredCheckpoints)")
    #expect(again.statistics.dictionaries == 1)
    try check(again, rows: Self.count + 300)
    try Self.fill(again, Self.count + 300..<Self.count + 400)
    #expect(again.statistics.compressionRatio < 0.5)
    // Another checkpoint over the first.
    try again.checkpoint()
    let last = try next.kill().open(Self.options)
    #expect(last.recovery.records == 0 && last.statistics.dictionaries == 1)
    try check(last, rows: Self.count + 400)
  }

  @Test("After a crash the dictionary is there as a whole or not at all.")
  func aCrashRightAfterItsCommitTakesItOrNot() throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<Self.count)
    try store.sync()
    machine.runBackground()
    try Self.fill(store, Self.count..<Self.count + 100)
    let kept = try machine.kill().open(Self.options)
    #expect(kept.statistics.dictionaries == 1)
    try check(kept, rows: Self.count + 100)
    let lost = try machine.crash().open(Self.options)
    #expect(lost.statistics.dictionaries == 0)
    try check(lost, rows: Self.count)
    try Self.fill(lost, Self.count..<Self.count + 100)
    try check(lost, rows: Self.count + 100)
  }

  @Test func aReaderBesideTheWriterSeesWhatIsThere() throws {
    let machine = try machine()
    let writer = try machine.open(Self.options)
    try Self.fill(writer, Self.count + 200..<Self.count + 300)
    var options = Self.options
    options.access = .readOnly
    let reader = try machine.open(options)
    #expect(reader.statistics.dictionaries == 1)
    try check(reader, rows: Self.count + 300)
  }

  @Test("A store without the option makes and uses no dictionaries.")
  func withoutDictionariesNoneIsMadeOrUsed() throws {
    var options = Self.options
    options.trainsDictionaries = false
    let fresh = Machine()
    let store = try fresh.open(options)
    try Self.fill(store, 0..<Self.count)
    fresh.runBackground()
    #expect(store.statistics.dictionaries == 0)
    // A dictionary that already exists is still used for reading.
    let again = try machine().open(options)
    try check(again)
    try Self.fill(again, Self.count + 200..<Self.count + 300)
    #expect(again.statistics.compressionRatio > 0.6)
    try check(again, rows: Self.count + 300)
  }

  @Test("A keyspace of dissimilar values gets no dictionary.") func valuesThatAreNotAlikeGetNone() throws {
    for length in [300, 12_000] {
      let machine = Machine()
      let store = try machine.open(Self.options)
      try Self.fill(store, 0..<(800_000 / length)) { [UInt8].noise(length, seed: UInt64($0)) }
      machine.runBackground()
      #expect(store.statistics.dictionaries == 0)
    }
  }

  @Test func theSameProgramWritesTheSameBytes() throws {
    let first = try Self.trained.get().contents
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<Self.count)
    machine.runBackground()
    try Self.fill(store, Self.count..<Self.count + 200)
    try store.sync()
    try store.close()
    #expect(machine.contents == first)
  }

  @Test("Dropping a keyspace drops its dictionary.") func droppingTheKeyspaceTakesItAlong() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    let snapshot = store.snapshot()
    let keyspace = try store.keyspace("rows")
    try store.drop(keyspace)
    #expect(store.statistics.dictionaries == 0)
    #expect(try snapshot.get(.integer(Self.first), in: keyspace) == Self.value(Int(Self.first)))
    snapshot.close()
    try store.put([UInt8]("new"), at: "new", in: store.keyspace("rows"))
    try store.checkpoint()
    let again = try machine.kill().open(Self.options)
    #expect(again.statistics.dictionaries == 0)
    #expect(try again.get("new", in: again.keyspace("rows")) == [UInt8]("new"))
  }

  // MARK: Compaction

  @Test func compactionCompressesOlderValuesWithTheDictionaryToo() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    let before = store.statistics.logBytes
    try store.compact(.everything)
    #expect(store.statistics.logBytes * 10 < before * 6)
    try check(store)
    let again = try machine.crash().open(Self.options)
    #expect(again.statistics.dictionaries == 1)
    try check(again)
    #expect(try Verifier(at: Machine.path, files: machine.files).run().findings.isEmpty)
  }

  @Test func compactingAgainChangesNoValue() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    try store.compact(.everything)
    let once = store.statistics
    try store.compact(.everything)
    #expect(store.statistics.liveBytes == once.liveBytes)
    try check(store)
  }

  @Test func withoutCompressionCompactionLeavesValuesAsTheyAre() throws {
    var options = Self.options
    options.compresses = false
    let machine = try machine()
    let store = try machine.open(options)
    let live = store.statistics.liveBytes
    try store.compact(.everything)
    #expect(abs(store.statistics.liveBytes - live) < live / 100)
    try check(store)
    try check(machine.crash().open(options))
  }

  @Test func aCheckpointFromBeforeCompactionKnowsTheDictionary() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    try store.put([UInt8]("one"), at: "first write", in: store.keyspace("others"))
    try store.checkpoint()
    try store.compact(.everything)
    let again = try machine.crash().open(Self.options)
    #expect(again.recovery.checkpoint != nil && again.statistics.dictionaries == 1)
    #expect(try again.get(.integer(Self.first), in: again.keyspace("rows")) == Self.value(Int(Self.first)))
    try again.compact(.everything)
    try again.checkpoint()
    let last = try machine.crash().open(Self.options)
    #expect(try last.get(.integer(0), in: last.keyspace("rows")) == Self.value(0))
  }

  /// A machine on which some rows were overwritten with values of another kind, which have a dictionary of their own.
  private func machineWithTwo(overwriting rows: Range<Int>) throws -> Machine {
    let machine = try machine()
    let store = try machine.open(Self.options)
    for _ in 0..<8 { try Self.fill(store, rows, Self.other) }
    machine.runBackground()
    #expect(store.statistics.dictionaries == 2)
    try Self.fill(store, rows.lowerBound..<rows.lowerBound + 100, Self.other)
    try store.sync()
    return machine
  }

  private static func other(_ number: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(number))
    let texts = (0..<30).map { _ -> String in
      let number: UInt64 = (random.next() % 300 + 7) &* 0xC2B2_AE3D_27D4_EB4F
      return "<\(number)>"
    }
    return [UInt8](texts.joined().utf8)
  }

  @Test("Scans, also within each other, read runs of values that have one dictionary and then the other.")
  func alternatingDictionaries() throws {
    let store = try machineWithTwo(overwriting: 0..<2000).open(Self.options)
    let keyspace = try store.keyspace("rows")
    let isOther = { (number: Int) in number < 2000 || number >= Self.count && number % 40 < 20 }
    try store.write(durability: .buffered) { batch in
      for number in Self.count..<Self.count + 200 where isOther(number) {
        try batch.put(Self.other(number), at: .integer(Int64(number)), in: keyspace)
      }
    }
    let expected = (0..<Self.count + 200).map { isOther($0) ? Self.other($0) : Self.value($0) }
    func values(_ range: KeyRange, reverse: Bool = false, _ between: (Int) throws -> Void) throws -> [[UInt8]] {
      var values: [[UInt8]] = []
      try keyspace.scan(range, reverse: reverse) { _, value, _ in
        try between(values.count)
        values.append(unsafe value.withUnsafeBytes { unsafe Array($0) })
        return .next
      }
      return values
    }
    let last = KeyRange.from(Key.integer(Int64(Self.count)))
    let (ascending, descending) = (try values(.all) { _ in }, try values(.all, reverse: true) { _ in })
    #expect(ascending == expected)
    #expect(descending == expected.reversed())
    let found = try values(last) { place in
      guard place % 30 == 7 else { return }
      let inner = try values(last, reverse: true) { _ in }
      #expect(inner == expected[Self.count...].reversed())
    }
    #expect(found == Array(expected[Self.count...]))
  }

  @Test("Compaction leaves out a dictionary that no segment uses.")
  func aDictionaryThatNothingUsesAnyMoreGoes() throws {
    let machine = try machineWithTwo(overwriting: 0..<Self.count + 200).kill()
    let store = try machine.open(Self.options)
    #expect(store.statistics.dictionaries == 2)
    // Dead records use the first dictionary until compaction has removed them.
    try store.compact(.everything)
    try store.compact(.everything)
    let last = try machine.crash().open(Self.options)
    #expect(last.statistics.dictionaries == 1)
    let keyspace = try last.keyspace("rows")
    for number in 0..<Self.count + 200 {
      #expect(try last.get(.integer(Int64(number)), in: keyspace) == Self.other(number))
    }
    #expect(try Verifier(at: Machine.path, files: machine.files).run().findings.isEmpty)
  }

  @Test("Compaction keeps a dictionary as long as a value uses it.")
  func aDictionaryStaysAsLongAsAValueUsesIt() throws {
    let machine = try machineWithTwo(overwriting: 0..<2000).kill()
    var options = Self.options
    // Without compression, compaction leaves each value with the dictionary it has.
    options.compresses = false
    let store = try machine.open(options)
    try store.compact(.everything)
    try store.compact(.everything)
    let again = try machine.crash().open(options)
    #expect(again.statistics.dictionaries == 2)
    let keyspace = try again.keyspace("rows")
    for number in 0..<Self.count + 200 {
      let expected = number < 2000 ? Self.other(number) : Self.value(number)
      #expect(try again.get(.integer(Int64(number)), in: keyspace) == expected)
    }
  }

  @Test func aDictionaryStaysWhenItsValuesHaveMovedBehindACheckpoint() throws {
    let machine = try machineWithTwo(overwriting: 0..<2000).kill()
    var options = Self.options
    options.compresses = false
    let store = try machine.open(options)
    try store.put([UInt8]("one"), at: "first write", in: store.keyspace("others"))
    try store.checkpoint()
    try store.compact(.everything)
    // The store learns from the list of moves where the values are now; the checkpoint does not know that segment.
    let next = machine.crash()
    let again = try next.open(options)
    #expect(again.recovery.checkpoint != nil)
    let users = again.log.segmentsUsing(dictionary: 1)
    #expect(!users.isEmpty)
    #expect(users == store.log.segmentsUsing(dictionary: 1))
    try again.compact(.everything)
    let end = next.crash()
    // The checkpoint has a copy of the dictionary, so empty the file.
    for name in end.contents.keys where name.hasSuffix(".checkpoint") { try end.rewrite(name) { $0 = [] } }
    let last = try end.open(options)
    #expect(last.recovery.checkpoint == nil && last.statistics.dictionaries == 2)
    let keyspace = try last.keyspace("rows")
    for number in 0..<Self.count + 200 {
      let expected = number < 2000 ? Self.other(number) : Self.value(number)
      #expect(try last.get(.integer(Int64(number)), in: keyspace) == expected)
    }
  }

  @Test("Compaction keeps a dictionary that no value has used yet.", arguments: [false, true])
  func aDictionaryStaysUntilItIsUsed(_ hasOlderRows: Bool) throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<Self.count)
    machine.runBackground()
    #expect(store.statistics.dictionaries == 1)
    let keyspace = try store.keyspace("rows")
    if !hasOlderRows {
      try store.write { batch in
        for number in 0..<Int64(Self.count) { try batch.delete(.integer(number), in: keyspace) }
      }
    }
    #expect(store.log.segmentsUsing(dictionary: 1).isEmpty)
    try store.compact(.everything)
    try store.put(Self.value(7000), at: "new", in: keyspace)
    #expect(!store.log.segmentsUsing(dictionary: 1).isEmpty)
    let again = try machine.crash().open(Self.options)
    #expect(again.recovery.checkpoint == nil)
    let same = try again.keyspace("rows")
    #expect(try again.get("new", in: same) == Self.value(7000))
    #expect(try again.get(0, in: same) == (hasOlderRows ? Self.value(0) : nil))
  }

  @Test func aDroppedKeyspaceLosesItsDictionary() throws {
    let machine = try machine()
    let store = try machine.open(Self.options)
    try store.drop(store.keyspace("rows"))
    try store.put([UInt8]("kept"), at: "row", in: store.keyspace("others"))
    try store.checkpoint()
    try store.compact(.everything)
    #expect(store.statistics.logBytes < 4096)
  }

  @Test func aSoundStoreHasNoFindings() throws {
    let machine = try machine()
    let verification = try Verifier(at: Machine.path, files: machine.files).run()
    #expect(verification.damage.isEmpty)
    #expect(verification.records == Self.count + 202)
  }

  // MARK: Damage

  /// Changes the dictionary's record, `change` being given where its key begins, and makes all checksums right.
  private func damaged(_ change: (inout [UInt8], _ key: Int) -> Void) throws -> Machine {
    let machine = try machine()
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
    let store = try machine.open(Self.options)
    let keyspace = try store.keyspace("rows")
    #expect(try store.get(.integer(0), in: keyspace) == Self.value(0), sourceLocation: location)
    let number = Key.integer(Self.first + 3)
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
    let machine = try machine()
    let store = try machine.open(Self.options)
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
    let store = try machine.open(Self.options)
    let rows = try store.keyspace("rows")
    let number = Key.integer(Self.first)
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
    let machine = try machine()
    let store = try machine.open(Self.options)
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
      let again = try other.open(Self.options)
      let value = try? again.get(.integer(Self.first + 3), in: again.keyspace("rows"))
      #expect(value == nil || value == Self.value(Int(Self.first) + 3))
      #expect(try again.get(.integer(0), in: again.keyspace("rows")) == Self.value(0))
    }
  }
}
