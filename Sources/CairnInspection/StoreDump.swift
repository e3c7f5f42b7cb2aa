package import Cairn

/// Dumps everything in some keyspaces of a store, from one snapshot, in a form that can be loaded again.
package struct StoreDump {
  package enum Form: Sendable {
    /// The newest version of each row, for other stores. Each keyspace is a named section unless there is only one.
    case berkeley(BerkeleyDump, isNamed: Bool)
    /// All versions that are kept, with their versions and sequences.
    case jsonLines
  }

  private let store: Store
  private let snapshot: Snapshot
  private let keyspaces: [Keyspace]
  private let form: Form
  private let isPastKeyLimit: Bool

  /// - Parameters:
  ///   - names: The names of the keyspaces to dump; all keyspaces if empty.
  ///   - isPastKeyLimit: Whether keys may be longer than LMDB usually accepts.
  /// - Throws: `notFound` for a keyspace that does not exist; `invalidArgument` for other than one keyspace without a
  ///   name.
  package init(
    _ store: Store, _ names: [String], _ form: Form, isPastKeyLimit: Bool = false
  ) throws(StoreError) {
    self.store = store
    snapshot = store.snapshot()
    var keyspaces: [Keyspace] = []
    for name in names { keyspaces.append(try store.existingKeyspace(name)) }
    self.keyspaces = names.isEmpty ? store.keyspaces : keyspaces
    self.form = form
    self.isPastKeyLimit = isPastKeyLimit
    if case .berkeley(_, isNamed: false) = form, self.keyspaces.count != 1 {
      throw StoreError(
        .invalidArgument,
        "only one keyspace can be dumped without a name, not \(self.keyspaces.count); name the keyspace")
    }
  }

  /// What a dump leaves out, in words.
  package var omissions: [String] {
    guard case .berkeley = form else { return [] }
    var omissions: [String] = []
    let keeping = keyspaces.filter { $0.retention != .newest }.map { Key.string($0.name).literal }
    if !keeping.isEmpty {
      omissions.append("older versions of the rows in \(keeping.joined(separator: ", "))")
    }
    let unordered = keyspaces.filter { $0.order == .unordered }.map { Key.string($0.name).literal }
    if !unordered.isEmpty { omissions.append("the setting unordered of \(unordered.joined(separator: ", "))") }
    return omissions
  }

  /// Writes the dump. `progress` is called with the number of rows written and of all rows; false ends the dump with
  /// `cancelled`.
  package func write(to sink: inout some LineSink, progress: InspectionProgress? = nil) throws {
    var counter = Counter(total: try rowCount(), progress: progress)
    switch form {
    case .berkeley(let dump, let isNamed):
      let mapSize = try checkedMapSize(dump)
      for keyspace in keyspaces {
        sink.bytes += try dump.header(isNamed ? keyspace.name : nil, mapSize: mapSize)
        try keyspace.scan(at: snapshot) { key, value, _ in
          try unsafe key.withUnsafeBytes { key in
            try unsafe dump.append(item: dump.key(key, in: keyspace.name), to: &sink.bytes)
          }
          unsafe value.withUnsafeBytes { unsafe dump.append(item: $0, to: &sink.bytes) }
          try sink.endLines()
          try counter.count()
          return .next
        }
        sink.bytes += BerkeleyDump.end
      }
      try sink.endLines()
    case .jsonLines:
      try writeLines(to: &sink, &counter)
    }
  }

  private func rowCount() throws(StoreError) -> Int {
    var count = 0
    for keyspace in keyspaces { count += try keyspace.count(at: snapshot) }
    return count
  }

  private struct Counter {
    private var rows = 0
    private let total: Int
    private let progress: InspectionProgress?

    init(total: Int, progress: InspectionProgress?) {
      self.total = total
      self.progress = progress
    }

    mutating func count() throws(StoreError) {
      rows += 1
      guard rows % 1024 != 0 || progress?(rows, total) ?? true else {
        throw StoreError(.cancelled, "the dump was cancelled")
      }
    }
  }

  // MARK: LMDB

  private static let page = 4096
  /// LMDB puts longer values into pages of their own.
  private static let longestInLeaf = 2000

  /// The map size for all sections and working space, in whole pages; nil if the profile does not need it. Reads every
  /// row, so that a key that cannot be loaded is found before anything is written.
  private func checkedMapSize(_ dump: BerkeleyDump) throws -> Int? {
    guard dump.profile == .lmdb else { return nil }
    var bytes = 0
    for keyspace in keyspaces {
      try keyspace.scan(at: snapshot) { key, value, _ in
        let length = try unsafe key.withUnsafeBytes { try unsafe dump.key($0, in: keyspace.name).count }
        guard isPastKeyLimit || (1...BerkeleyDump.lmdbKeyLimit).contains(length) else {
          let literal = (try? Key(validating: key))?.literal ?? "a key"
          throw StoreError(
            .keyTooLong,
            "\(literal.prefix(80)) in \(Key.string(keyspace.name).literal) has \(length) bytes; LMDB allows 1 to "
              + "\(BerkeleyDump.lmdbKeyLimit)")
        }
        let value = value.byteCount
        bytes += length + 16 + (value > Self.longestInLeaf ? (value + 16 + Self.page) / Self.page * Self.page : value)
        return .next
      }
    }
    let size = max(1 << 20, bytes * 5 / 2 + keyspaces.count * 16 * Self.page)
    return (size + Self.page - 1) / Self.page * Self.page
  }
}

// MARK: JSON Lines

extension StoreDump {
  private func writeLines(to sink: inout some LineSink, _ counter: inout Counter) throws {
    sink.bytes += Array(#"{"schema":"kvdump.dump","schemaVersion":2,"store":"#.utf8)
    sink.bytes.append(quoted: store.path, .json)
    sink.bytes += Array(#","lastSequence":\#(snapshot.sequence)}"#.utf8)
    try sink.endLine()
    var (rows, versions) = (0, 0)
    for keyspace in keyspaces {
      sink.bytes += Array(#"{"keyspace":\#(keyspace.id),"name":"#.utf8)
      sink.bytes.append(quoted: keyspace.name, .json)
      sink.bytes += Array(#","order":"\#(keyspace.order)","retention":\#(keyspace.retention.count),"#.utf8)
      sink.bytes += Array(#""definedAt":\#(keyspace.definedAt)}"#.utf8)
      try sink.endLine()
      func write(_ records: [RecordView]) throws -> ScanStep {
        for (number, record) in records.enumerated() {
          try append(record, keyspace.id, isOld: number > 0, to: &sink.bytes)
          try sink.endLine()
        }
        if records.first?.header.isPut == true { rows += 1 }
        versions += records.count
        try counter.count()
        return .next
      }
      if keyspace.retention == .newest {
        try snapshot.forEachRecord(in: keyspace) { try write([$0]) }
      } else {
        try snapshot.forEachHistory(in: keyspace, write)
      }
    }
    sink.bytes += Array(#"{"end":true,"rows":\#(rows),"versions":\#(versions)}"#.utf8)
    try sink.endLine()
  }

  private func append(
    _ record: RecordView, _ keyspace: KeyspaceID, isOld: Bool, to bytes: inout [UInt8]
  ) throws {
    bytes += Array(#"{"in":\#(keyspace),"key":"#.utf8)
    do throws(MalformedKey) {
      bytes.append(json: unsafe try Key(validating: record.key.bytes))
    } catch {
      throw StoreError(.corrupted, "a key is not encoded correctly")
    }
    bytes += Array(#","value":"#.utf8)
    if record.header.isPut {
      try unsafe snapshot.withValue(of: record) { unsafe bytes.append(jsonValue: $0) }
    } else {
      bytes += Array("null".utf8)
    }
    bytes += Array(#","version":\#(record.header.version),"sequence":\#(record.header.sequence)"#.utf8)
    bytes += Array((isOld ? #","old":true}"# : "}").utf8)
  }
}
