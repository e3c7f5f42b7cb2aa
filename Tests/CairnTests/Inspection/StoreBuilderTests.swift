import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// Stores built from records that keep their sequences and versions.
@Suite struct StoreBuilderTests {
  private let machine = MemoryFileLayer()

  private var environment: Environment {
    Environment(files: machine, clock: { 1 }, random: { 7 }, scheduler: ManualScheduler())
  }

  private func open(_ access: StoreOptions.Access = .readWrite) throws -> Store {
    var options = StoreOptions()
    options.access = access
    return try Store.open(at: "/store", options: options, environment: environment)
  }

  private func build(oldVersions: UInt32 = 0, segmentSize: Int = 1 << 16, _ records: [(Key, RowVersion)]) throws {
    var builder = try StoreBuilder(
      at: "/store", lastSequence: 1000, segmentSize: segmentSize, environment: environment)
    try builder.add(
      Manifest.Keyspace(id: 3, isOrdered: true, definedAt: 2, name: "rows", oldVersions: oldVersions))
    for (key, version) in records {
      let value = version.value ?? []
      try unsafe key.encoded.withUnsafeBytes { key in
        try unsafe value.withUnsafeBytes { value in
          try unsafe builder.add(
            version.isDeletion ? .tombstone : .put, keyspace: 3, key: key, value: value, compressedFrom: nil,
            version: version.version, sequence: version.sequence)
        }
      }
    }
    try builder.finish()
  }

  private func version(_ value: String?, _ version: UInt64, _ sequence: CommitSequence) -> RowVersion {
    RowVersion(value: value.map { Array($0.utf8) }, version: version, sequence: sequence)
  }

  @Test func rowsKeepTheirSequencesAndVersions() throws {
    try build([("b", version("two", 5, 17)), ("a", version("one", 1, 900))])
    let store = try open()
    let rows = try store.keyspace("rows")
    #expect(rows.id == 3)
    #expect(rows.definedAt == 2)
    #expect(store.lastSequence == 1000)
    let found = try store.snapshot().rows(in: rows)
    #expect(found.map(\.key) == ["a", "b"])
    #expect(found.map(\.version) == [1, 5])
    #expect(found.map(\.sequence) == [900, 17])
    #expect(try Verifier(at: "/store", files: machine).run().findings.isEmpty)
  }

  @Test func retainedVersionsComeBackAlsoOfDeletedRows() throws {
    let kept = [version("three", 3, 30), version("two", 2, 20), version("one", 1, 10)]
    let deleted = [version(nil, 1, 12), version("gone", 1, 11)]
    try build(oldVersions: 2, kept.map { ("kept", $0) } + deleted.map { ("deleted", $0) })
    let store = try open()
    let rows = try store.keyspace("rows")
    #expect(rows.retention == .last(3))
    #expect(try store.history(of: "kept", in: rows) == kept)
    #expect(try store.history(of: "deleted", in: rows) == deleted)
    #expect(try store.get("deleted", in: rows) == nil)
    try store.put(Array("four".utf8), at: "kept", in: rows)
    #expect(try store.history(of: "kept", in: rows).map(\.version) == [4, 3, 2])
  }

  @Test func whatIsWrittenLaterSurvivesCompactionAndReopening() throws {
    let value = String(repeating: "x", count: 500)
    try build((0..<400 as Range<Int64>).map { (.integer($0), version(value, 1, CommitSequence(UInt64($0) + 3))) })
    var store = try open()
    #expect(store.statistics.segments > 2)
    var rows = try store.keyspace("rows")
    for number in 0..<200 as Range<Int64> { try store.delete(.integer(number), in: rows) }
    let sequence = try store.put([1], at: .integer(300), in: rows)
    #expect(sequence > 1000)
    try store.compact(.everything)
    try store.checkpoint()
    try store.close()
    store = try open()
    rows = try store.keyspace("rows")
    #expect(try store.snapshot().count(in: rows) == 200)
    #expect(try store.row(.integer(300), in: rows)?.version == 2)
    #expect(try store.row(.integer(301), in: rows)?.sequence == 304)
    try store.close()
    #expect(try Verifier(at: "/store", files: machine).run().damage.isEmpty)
  }

  @Test func anUnfinishedOneIsNoStore() throws {
    do {
      var builder = try StoreBuilder(at: "/store", lastSequence: 9, segmentSize: 1 << 16, environment: environment)
      try builder.add(Manifest.Keyspace(id: 1, isOrdered: true, definedAt: 2, name: "rows"))
    }
    #expect(throws: StoreError.self) { try open() }
    #expect(throws: StoreError.self) {
      _ = try StoreBuilder(at: "/store", lastSequence: 9, segmentSize: 1 << 16, environment: environment)
    }
  }

  @Test func historiesOfAllRowsAreThoseOfEachRow() throws {
    let store = try open()
    for order in [Keyspace.Order.ordered, .unordered] {
      let rows = try store.keyspace("\(order)", order: order)
      try store.setRetention(.last(3), of: rows)
      for round in 0..<4 as Range<Int64> {
        try store.write { batch in
          for number in 0..<300 as Range<Int64> where (number + round) % 3 > 0 {
            try batch.put([UInt8(round)], at: .integer(number), in: rows)
          }
          for number in stride(from: round, to: 300, by: 7) { try batch.delete(.integer(number), in: rows) }
        }
      }
      var found: [Key: [CommitSequence]] = [:]
      try store.snapshot().forEachHistory(in: rows) { records in
        let key = unsafe try Key(validating: records[0].key.bytes)
        #expect(found[key] == nil)
        found[key] = records.map(\.header.sequence)
        return .next
      }
      for number in 0..<300 as Range<Int64> {
        let history = try store.history(of: .integer(number), in: rows).map(\.sequence)
        #expect(found[.integer(number)] ?? [] == history)
      }
    }
  }
}
