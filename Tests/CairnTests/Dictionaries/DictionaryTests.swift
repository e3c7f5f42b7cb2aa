import CairnSimulation
import Testing

@testable import Cairn
@testable import CairnInspection

@Suite struct DictionaryTests {
  private func check(_ store: Store, rows: Int = TrainedStore.count + 200) throws {
    let keyspace = try store.keyspace("rows")
    let values = try store.read { snapshot in
      try snapshot.get(many: (0..<rows).map { .integer(Int64($0)) }, in: keyspace)
    }
    let wrong = (0..<rows).filter { values[$0] != TrainedStore.value($0) }
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
    let store = try machine.open(TrainedStore.options)
    let rows = try store.keyspace("rows")
    for number in 0..<TrainedStore.count {
      try store.put(TrainedStore.value(number), at: .integer(Int64(number)), in: rows, .buffered)
    }
    var pieces = 0
    while machine.runOneInBackground() { pieces += 1 }
    #expect(store.statistics.dictionaries > 0)
    #expect(pieces < TrainedStore.count / 4)
    try store.close()
  }

  @Test("A keyspace of similar values gets a dictionary.") func valuesThatAreAlikeGetADictionary() throws {
    let machine = Machine()
    let store = try machine.open(TrainedStore.options)
    try TrainedStore.fill(store, 0..<TrainedStore.count)
    #expect(store.statistics.dictionaries == 0)
    let before = store.statistics
    machine.runBackground()
    #expect(store.statistics.dictionaries == 1)
    #expect(store.statistics.dictionaryBytes > 1000)
    #expect(store.lastSequence == before.lastSequence + 1)
    try TrainedStore.fill(store, TrainedStore.count..<TrainedStore.count + 200)
    let raw = store.statistics.rawValueBytes - before.rawValueBytes
    let stored = store.statistics.storedValueBytes - before.storedValueBytes
    #expect(Double(stored) / Double(raw) < before.compressionRatio * 0.8)
    try check(store)
  }

  @Test("Values with a dictionary can be read in every way.") func everyWayOfReadingKnowsTheDictionary() throws {
    let store = try TrainedStore.machine().open(TrainedStore.options)
    let keyspace = try store.keyspace("rows")
    let number = TrainedStore.first + 7
    let value = TrainedStore.value(Int(number))
    #expect(try store.get(.integer(number), in: keyspace) == value)
    #expect(try store.row(.integer(number), in: keyspace)?.value == value)
    #expect(try store.withValue(.integer(number), in: keyspace) { $0.array } == value)
    try store.read { snapshot in
      #expect(try snapshot.get(.integer(number), in: keyspace) == value)
      #expect(try snapshot.row(.integer(number), in: keyspace)?.value == value)
      #expect(try snapshot.withValue(.integer(number), in: keyspace) { $0.array } == value)
      #expect(try snapshot.get(many: [.integer(number), .integer(-1)], in: keyspace) == [value, nil])
      #expect(
        try snapshot.rows(in: keyspace, reverse: true, limit: 1).first?.value
          == TrainedStore.value(TrainedStore.count + 199))
      var seen = 0
      try snapshot.scan(in: keyspace) { _, bytes, _ in
        if bytes.array == TrainedStore.value(seen) { seen += 1 }
        return .next
      }
      #expect(seen == TrainedStore.count + 200)
    }
  }

  @Test("An unordered keyspace can have a dictionary, too.") func anUnorderedKeyspaceHasOneToo() throws {
    let machine = Machine()
    let store = try machine.open(TrainedStore.options)
    let heap = try store.keyspace("heap", order: .unordered)
    for number in 0..<TrainedStore.count {
      try store.put(TrainedStore.value(number), at: .integer(Int64(number)), in: heap, .buffered)
    }
    machine.runBackground()
    try store.put(TrainedStore.value(9999), at: "last", in: heap)
    #expect(store.statistics.dictionaries == 1)
    #expect(try store.get("last", in: heap) == TrainedStore.value(9999))
    var seen = 0
    try store.read {
      try $0.scan(in: heap) { _, _, _ in
        seen += 1; return .next
      }
    }
    #expect(seen == TrainedStore.count + 1)
  }

  @Test("A reopened store continues to use its dictionary.") func reopeningGoesOnWithIt() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    #expect(store.statistics.dictionaries == 1)
    try check(store)
    try TrainedStore.fill(store, TrainedStore.count + 200..<TrainedStore.count + 300)
    #expect(store.statistics.compressionRatio < 0.5)
    let again = try machine.kill().open(TrainedStore.options)
    #expect(again.statistics.dictionaries == 1)
    try check(again, rows: TrainedStore.count + 300)
  }

  @Test("A checkpoint has a copy of the dictionary.") func aCheckpointKnowsWhereItIs() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    try store.checkpoint()
    try TrainedStore.fill(store, TrainedStore.count + 200..<TrainedStore.count + 300)
    try store.sync()
    let next = machine.crash()
    let again = try next.open(TrainedStore.options)
    #expect(again.recovery.checkpoint != nil && again.recovery.records == 100, "\(again.recovery.ignoredCheckpoints)")
    #expect(again.statistics.dictionaries == 1)
    try check(again, rows: TrainedStore.count + 300)
    try TrainedStore.fill(again, TrainedStore.count + 300..<TrainedStore.count + 400)
    #expect(again.statistics.compressionRatio < 0.5)
    // Another checkpoint over the first.
    try again.checkpoint()
    let last = try next.kill().open(TrainedStore.options)
    #expect(last.recovery.records == 0 && last.statistics.dictionaries == 1)
    try check(last, rows: TrainedStore.count + 400)
  }

  @Test("After a crash the dictionary is there as a whole or not at all.")
  func aCrashRightAfterItsCommitTakesItOrNot() throws {
    let machine = Machine()
    let store = try machine.open(TrainedStore.options)
    try TrainedStore.fill(store, 0..<TrainedStore.count)
    try store.sync()
    machine.runBackground()
    try TrainedStore.fill(store, TrainedStore.count..<TrainedStore.count + 100)
    let kept = try machine.kill().open(TrainedStore.options)
    #expect(kept.statistics.dictionaries == 1)
    try check(kept, rows: TrainedStore.count + 100)
    let lost = try machine.crash().open(TrainedStore.options)
    #expect(lost.statistics.dictionaries == 0)
    try check(lost, rows: TrainedStore.count)
    try TrainedStore.fill(lost, TrainedStore.count..<TrainedStore.count + 100)
    try check(lost, rows: TrainedStore.count + 100)
  }

  @Test func aReaderBesideTheWriterSeesWhatIsThere() throws {
    let machine = try TrainedStore.machine()
    let writer = try machine.open(TrainedStore.options)
    try TrainedStore.fill(writer, TrainedStore.count + 200..<TrainedStore.count + 300)
    var options = TrainedStore.options
    options.access = .readOnly
    let reader = try machine.open(options)
    #expect(reader.statistics.dictionaries == 1)
    try check(reader, rows: TrainedStore.count + 300)
  }

  @Test("A store without the option makes and uses no dictionaries.")
  func withoutDictionariesNoneIsMadeOrUsed() throws {
    var options = TrainedStore.options
    options.trainsDictionaries = false
    let fresh = Machine()
    let store = try fresh.open(options)
    try TrainedStore.fill(store, 0..<TrainedStore.count)
    fresh.runBackground()
    #expect(store.statistics.dictionaries == 0)
    // A dictionary that already exists is still used for reading.
    let again = try TrainedStore.machine().open(options)
    try check(again)
    try TrainedStore.fill(again, TrainedStore.count + 200..<TrainedStore.count + 300)
    #expect(again.statistics.compressionRatio > 0.6)
    try check(again, rows: TrainedStore.count + 300)
  }

  @Test("A keyspace of dissimilar values gets no dictionary.") func valuesThatAreNotAlikeGetNone() throws {
    for length in [300, 12_000] {
      let machine = Machine()
      let store = try machine.open(TrainedStore.options)
      try TrainedStore.fill(store, 0..<(800_000 / length)) { [UInt8].noise(length, seed: UInt64($0)) }
      machine.runBackground()
      #expect(store.statistics.dictionaries == 0)
    }
  }

  @Test func theSameProgramWritesTheSameBytes() throws {
    let first = try TrainedStore.trained.get().contents
    let machine = Machine()
    let store = try machine.open(TrainedStore.options)
    try TrainedStore.fill(store, 0..<TrainedStore.count)
    machine.runBackground()
    try TrainedStore.fill(store, TrainedStore.count..<TrainedStore.count + 200)
    try store.sync()
    try store.close()
    #expect(machine.contents == first)
  }

  @Test("Dropping a keyspace drops its dictionary.") func droppingTheKeyspaceTakesItAlong() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    let snapshot = store.snapshot()
    let keyspace = try store.keyspace("rows")
    try store.drop(keyspace)
    #expect(store.statistics.dictionaries == 0)
    #expect(try snapshot.get(.integer(TrainedStore.first), in: keyspace) == TrainedStore.value(Int(TrainedStore.first)))
    snapshot.close()
    try store.put([UInt8]("new"), at: "new", in: store.keyspace("rows"))
    try store.checkpoint()
    let again = try machine.kill().open(TrainedStore.options)
    #expect(again.statistics.dictionaries == 0)
    #expect(try again.get("new", in: again.keyspace("rows")) == [UInt8]("new"))
  }

  // MARK: Compaction

  @Test func compactionCompressesOlderValuesWithTheDictionaryToo() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    let before = store.statistics.logBytes
    try store.compact(.everything)
    #expect(store.statistics.logBytes * 10 < before * 6)
    try check(store)
    let again = try machine.crash().open(TrainedStore.options)
    #expect(again.statistics.dictionaries == 1)
    try check(again)
    #expect(try Verifier(at: Machine.path, files: machine.files).run().findings.isEmpty)
  }

  @Test func compactingAgainChangesNoValue() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    try store.compact(.everything)
    let once = store.statistics
    try store.compact(.everything)
    #expect(store.statistics.liveBytes == once.liveBytes)
    try check(store)
  }

  @Test func withoutCompressionCompactionLeavesValuesAsTheyAre() throws {
    var options = TrainedStore.options
    options.compresses = false
    let machine = try TrainedStore.machine()
    let store = try machine.open(options)
    let live = store.statistics.liveBytes
    try store.compact(.everything)
    #expect(abs(store.statistics.liveBytes - live) < live / 100)
    try check(store)
    try check(machine.crash().open(options))
  }

  @Test func aCheckpointFromBeforeCompactionKnowsTheDictionary() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    try store.put([UInt8]("one"), at: "first write", in: store.keyspace("others"))
    try store.checkpoint()
    try store.compact(.everything)
    let again = try machine.crash().open(TrainedStore.options)
    #expect(again.recovery.checkpoint != nil && again.statistics.dictionaries == 1)
    #expect(
      try again.get(.integer(TrainedStore.first), in: again.keyspace("rows"))
        == TrainedStore.value(Int(TrainedStore.first)))
    try again.compact(.everything)
    try again.checkpoint()
    let last = try machine.crash().open(TrainedStore.options)
    #expect(try last.get(.integer(0), in: last.keyspace("rows")) == TrainedStore.value(0))
  }

  /// A machine on which some rows were overwritten with values of another kind, which have a dictionary of their own.
  private func machineWithTwo(overwriting rows: Range<Int>) throws -> Machine {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    for _ in 0..<8 { try TrainedStore.fill(store, rows, Self.other) }
    machine.runBackground()
    #expect(store.statistics.dictionaries == 2)
    try TrainedStore.fill(store, rows.lowerBound..<rows.lowerBound + 100, Self.other)
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
    let store = try machineWithTwo(overwriting: 0..<2000).open(TrainedStore.options)
    let keyspace = try store.keyspace("rows")
    let isOther = { (number: Int) in number < 2000 || number >= TrainedStore.count && number % 40 < 20 }
    try store.write(durability: .buffered) { batch in
      for number in TrainedStore.count..<TrainedStore.count + 200 where isOther(number) {
        try batch.put(Self.other(number), at: .integer(Int64(number)), in: keyspace)
      }
    }
    let expected = (0..<TrainedStore.count + 200).map { isOther($0) ? Self.other($0) : TrainedStore.value($0) }
    func values(_ range: KeyRange, reverse: Bool = false, _ between: (Int) throws -> Void) throws -> [[UInt8]] {
      var values: [[UInt8]] = []
      try keyspace.scan(range, reverse: reverse) { _, value, _ in
        try between(values.count)
        values.append(unsafe value.withUnsafeBytes { unsafe Array($0) })
        return .next
      }
      return values
    }
    let last = KeyRange.from(Key.integer(Int64(TrainedStore.count)))
    let (ascending, descending) = (try values(.all) { _ in }, try values(.all, reverse: true) { _ in })
    #expect(ascending == expected)
    #expect(descending == expected.reversed())
    let found = try values(last) { place in
      guard place % 30 == 7 else { return }
      let inner = try values(last, reverse: true) { _ in }
      #expect(inner == expected[TrainedStore.count...].reversed())
    }
    #expect(found == Array(expected[TrainedStore.count...]))
  }

  @Test("Compaction leaves out a dictionary that no segment uses.")
  func aDictionaryThatNothingUsesAnyMoreGoes() throws {
    let machine = try machineWithTwo(overwriting: 0..<TrainedStore.count + 200).kill()
    let store = try machine.open(TrainedStore.options)
    #expect(store.statistics.dictionaries == 2)
    // Dead records use the first dictionary until compaction has removed them.
    try store.compact(.everything)
    try store.compact(.everything)
    let last = try machine.crash().open(TrainedStore.options)
    #expect(last.statistics.dictionaries == 1)
    let keyspace = try last.keyspace("rows")
    for number in 0..<TrainedStore.count + 200 {
      #expect(try last.get(.integer(Int64(number)), in: keyspace) == Self.other(number))
    }
    #expect(try Verifier(at: Machine.path, files: machine.files).run().findings.isEmpty)
  }

  @Test("Compaction keeps a dictionary as long as a value uses it.")
  func aDictionaryStaysAsLongAsAValueUsesIt() throws {
    let machine = try machineWithTwo(overwriting: 0..<2000).kill()
    var options = TrainedStore.options
    // Without compression, compaction leaves each value with the dictionary it has.
    options.compresses = false
    let store = try machine.open(options)
    try store.compact(.everything)
    try store.compact(.everything)
    let again = try machine.crash().open(options)
    #expect(again.statistics.dictionaries == 2)
    let keyspace = try again.keyspace("rows")
    for number in 0..<TrainedStore.count + 200 {
      let expected = number < 2000 ? Self.other(number) : TrainedStore.value(number)
      #expect(try again.get(.integer(Int64(number)), in: keyspace) == expected)
    }
  }

  @Test func aDictionaryStaysWhenItsValuesHaveMovedBehindACheckpoint() throws {
    let machine = try machineWithTwo(overwriting: 0..<2000).kill()
    var options = TrainedStore.options
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
    for number in 0..<TrainedStore.count + 200 {
      let expected = number < 2000 ? Self.other(number) : TrainedStore.value(number)
      #expect(try last.get(.integer(Int64(number)), in: keyspace) == expected)
    }
  }

  @Test("Compaction keeps a dictionary that no value has used yet.", arguments: [false, true])
  func aDictionaryStaysUntilItIsUsed(_ hasOlderRows: Bool) throws {
    let machine = Machine()
    let store = try machine.open(TrainedStore.options)
    try TrainedStore.fill(store, 0..<TrainedStore.count)
    machine.runBackground()
    #expect(store.statistics.dictionaries == 1)
    let keyspace = try store.keyspace("rows")
    if !hasOlderRows {
      try store.write { batch in
        for number in 0..<Int64(TrainedStore.count) { try batch.delete(.integer(number), in: keyspace) }
      }
    }
    #expect(store.log.segmentsUsing(dictionary: 1).isEmpty)
    try store.compact(.everything)
    try store.put(TrainedStore.value(7000), at: "new", in: keyspace)
    #expect(!store.log.segmentsUsing(dictionary: 1).isEmpty)
    let again = try machine.crash().open(TrainedStore.options)
    #expect(again.recovery.checkpoint == nil)
    let same = try again.keyspace("rows")
    #expect(try again.get("new", in: same) == TrainedStore.value(7000))
    #expect(try again.get(0, in: same) == (hasOlderRows ? TrainedStore.value(0) : nil))
  }

  @Test func aDroppedKeyspaceLosesItsDictionary() throws {
    let machine = try TrainedStore.machine()
    let store = try machine.open(TrainedStore.options)
    try store.drop(store.keyspace("rows"))
    try store.put([UInt8]("kept"), at: "row", in: store.keyspace("others"))
    try store.checkpoint()
    try store.compact(.everything)
    #expect(store.statistics.logBytes < 4096)
  }

  @Test func aSoundStoreHasNoFindings() throws {
    let machine = try TrainedStore.machine()
    let verification = try Verifier(at: Machine.path, files: machine.files).run()
    #expect(verification.damage.isEmpty)
    #expect(verification.records == TrainedStore.count + 202)
  }
}
