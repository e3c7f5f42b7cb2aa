package import Cairn

/// What takes space in a store, and what would save some.
package struct SpaceReport: Sendable {
  /// One keyspace.
  package struct Keyspace: Sendable {
    package let name: String
    package internal(set) var rows = 0
    package internal(set) var keys = SizeHistogram()
    package internal(set) var values = SizeHistogram()
    /// Bytes of the values as they are stored.
    package internal(set) var storedBytes = 0
    package internal(set) var compressedRows = 0
    package internal(set) var dictionaryRows = 0
    package internal(set) var prefixes = PrefixTally()
    /// How well samples of the values compress in other ways.
    package internal(set) var trial = CompressionTrial(samples: [])
  }

  /// By id.
  package private(set) var keyspaces: [Keyspace] = []
  package let statistics: StoreStatistics
  /// The names of the Core Data objects; nil if there are none, or if their schema cannot be read.
  package let names: ObjectNames?

  private static let sampleBytes = 1 << 20

  /// Reads every row and every record of the log.
  package init(of store: Store, progress: InspectionProgress? = nil) throws {
    statistics = store.statistics
    let names = ObjectNames.read(from: store)
    self.names = names
    let snapshot = store.snapshot()
    let total = 2 * statistics.rows
    var done = 0
    func count() throws(StoreError) {
      done += 1
      guard done % 1024 != 0 || progress?(min(done, total), total) ?? true else {
        throw StoreError(.cancelled, "counting was cancelled")
      }
    }
    var positions: [KeyspaceID: Int] = [:]
    for keyspace in store.keyspaces {
      positions[keyspace.id] = keyspaces.count
      var report = Keyspace(name: keyspace.name)
      if let names, keyspace.name == RowStructures.packs { report.prefixes = PrefixTally { names.prefix(of: $0) } }
      var samples = Samples(rows: try keyspace.count(at: snapshot), bytes: Self.sampleBytes)
      try snapshot.forEachRecord(in: keyspace) { record in
        try count()
        report.add(record)
        if samples.wants(record.header.rawLength) {
          try unsafe snapshot.withValue(of: record) { unsafe samples.add(Array($0)) }
        }
        return .next
      }
      report.trial = CompressionTrial(samples: samples.values)
      keyspaces.append(report)
    }

    let log = try LogReader(at: store.path)
    for entry in log.entries {
      guard let segment = try log.segment(entry) else { continue }
      try segment.forEachRecord { record, _ in
        guard record.header.isPut || record.header.isTombstone, let position = positions[record.header.keyspace],
          let key = try? Key(validating: unsafe record.key.bytes)
        else { return }
        try count()
        keyspaces[position].prefixes.add(writeOf: key)
      }
    }
  }

  /// Samples of values from all over a keyspace: one row in `stride`.
  private struct Samples {
    private let bytesLeft: Int
    private let stride: Int
    private var seen = 0
    private var bytes = 0
    private(set) var values: [[UInt8]] = []

    init(rows: Int, bytes: Int) {
      bytesLeft = bytes
      // Values of a hundred bytes fill the samples exactly; longer ones fill them sooner.
      stride = max(1, rows / (bytes / 100))
    }

    mutating func wants(_ length: Int) -> Bool {
      defer { seen += 1 }
      return seen % stride == 0 && length <= LZ4Compressor.longestValueWithDictionary && bytes < bytesLeft
    }

    mutating func add(_ value: [UInt8]) {
      values.append(value)
      bytes += value.count
    }
  }
}

extension SpaceReport.Keyspace {
  fileprivate mutating func add(_ record: RecordView) {
    let header = record.header
    rows += 1
    keys.add(header.keyLength)
    values.add(header.rawLength)
    storedBytes += header.storedLength
    if header.isCompressed { compressedRows += 1 }
    if header.dictionary > 0 { dictionaryRows += 1 }
    if let key = try? Key(validating: unsafe record.key.bytes) {
      prefixes.add(row: key, bytes: header.paddedLength)
    }
  }
}
