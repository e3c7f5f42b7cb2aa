package import Cairn

/// Builds a store from versions of rows that are given with their numbers. The store cannot be opened before it is
/// complete, and nothing remains if building fails.
package struct NewStore: ~Copyable {
  /// What a finished store contains.
  package struct Contents: Sendable {
    package internal(set) var keyspaces: [(name: String, rows: Int)] = []
    package internal(set) var rows = 0
    /// Versions of rows, including the newest, and deletions.
    package internal(set) var versions = 0
    package internal(set) var dictionaries = 0
    package internal(set) var lastSequence: CommitSequence = 0
    /// Bytes of the log.
    package internal(set) var bytes = 0
  }

  /// Bytes of values that are collected as samples before the first is written.
  private static let sampleBytes = 1 << 20

  private let path: String
  private var builder: StoreBuilder
  private var compressor = LZ4Compressor()
  private var keyspaces: [Manifest.Keyspace] = []
  private var sections: [KeyspaceID: Section] = [:]
  private var nextDictionary: DictionaryID = 1
  private var contents = Contents()
  /// Rows whose newest version is a deletion.
  private var deletedRows = 0

  /// One keyspace while it is being filled.
  private struct Section {
    var rows = 0
    /// Versions that have been given but not written; nil once the compression has been decided.
    var pending: [PendingVersion]? = []
    var pendingBytes = 0
    var dictionary: (id: DictionaryID, content: LZ4Dictionary)?
  }

  private struct PendingVersion {
    let key: [UInt8]
    let value: [UInt8]?
    let version: UInt64
    let sequence: CommitSequence
  }

  /// Builds a store with `fill`. Removes what has been written if `fill`, or anything else, fails.
  package static func make(
    at path: String, lastSequence: CommitSequence, segmentSize: Int = StoreOptions().segmentSize,
    _ fill: (inout NewStore) throws -> Void
  ) throws -> Contents {
    let builder = try StoreBuilder(at: path, lastSequence: lastSequence, segmentSize: segmentSize)
    do {
      var store = NewStore(path, builder)
      store.contents.lastSequence = lastSequence
      try fill(&store)
      return try store.finish()
    } catch {
      remove(path)
      throw error
    }
  }

  private init(_ path: String, _ builder: consuming StoreBuilder) {
    self.path = path
    self.builder = builder
  }

  /// Removes the directory of an unfinished store with all its files. Files that cannot be removed stay.
  private static func remove(_ path: String) {
    let files = SystemFileLayer()
    for name in (try? files.list(path)) ?? [] { try? files.remove("\(path)/\(name)") }
    try? files.remove(path)
  }

  // MARK: Filling

  /// Defines a keyspace. Ids must ascend.
  /// - Throws: `malformed` if the name has been used, or the id does not ascend.
  package mutating func add(_ keyspace: Manifest.Keyspace) throws(StoreError) {
    guard !keyspaces.contains(where: { $0.name == keyspace.name }), keyspace.id > keyspaces.last?.id ?? 0 else {
      throw StoreError(
        .malformed, "keyspace \(Key.string(keyspace.name).literal) appears twice, or its number does not ascend"
      )
    }
    keyspaces.append(keyspace)
    sections[keyspace.id] = Section()
    try builder.add(keyspace)
  }

  /// Adds a version of a row; `value` is nil for a deletion. Each row has one newest version; older ones are allowed
  /// only in a keyspace that keeps them.
  /// - Throws: `malformed` for a keyspace that has not been added; `keyTooLong`.
  package mutating func add(
    _ value: [UInt8]?, at key: [UInt8], in keyspace: KeyspaceID, version: UInt64, sequence: CommitSequence,
    isOld: Bool = false
  ) throws(StoreError) {
    guard sections[keyspace] != nil else { throw StoreError(.malformed, "keyspace \(keyspace) is not defined") }
    guard key.count <= Format.maximumKeyLength else {
      throw StoreError(.keyTooLong, "a key has \(key.count) bytes, but at most \(Format.maximumKeyLength) are allowed")
    }
    count(isPut: value != nil, isOld: isOld, in: keyspace)
    let pending = PendingVersion(key: key, value: value, version: version, sequence: sequence)
    guard sections[keyspace]?.pending != nil else { return try write(pending, keyspace) }
    sections[keyspace]?.pending?.append(pending)
    sections[keyspace]?.pendingBytes += value?.count ?? 0
    if sections[keyspace]?.pendingBytes ?? 0 >= Self.sampleBytes { try settle(keyspace) }
  }

  /// Adds a copy of a record of another store; `isOld` as above. Its dictionary must be added as well, with the same
  /// id.
  package mutating func add(copyOf record: RecordView, isOld: Bool) throws(StoreError) {
    count(isPut: record.header.isPut, isOld: isOld, in: record.header.keyspace)
    try builder.add(copyOf: record)
  }

  private mutating func count(isPut: Bool, isOld: Bool, in keyspace: KeyspaceID) {
    contents.versions += 1
    guard !isOld else { return }
    if isPut { sections[keyspace]?.rows += 1 } else { deletedRows += 1 }
  }

  /// Adds a dictionary of another store.
  package mutating func add(dictionary id: DictionaryID, _ content: [UInt8], keyspace: KeyspaceID) throws(StoreError) {
    let sequence = keyspaces.first { $0.id == keyspace }?.definedAt ?? 0
    let block = compressor.block(of: content, with: nil)
    try builder.add(dictionary: id, content, block: block, keyspace: keyspace, sequence: sequence)
    contents.dictionaries += 1
  }

  /// Decides how to compress a keyspace's values, and writes the pending versions.
  private mutating func settle(_ keyspace: KeyspaceID) throws(StoreError) {
    guard let pending = sections[keyspace]?.pending else { return }
    sections[keyspace]?.pending = nil
    let samples = pending.compactMap(\.value).filter { $0.count <= LZ4Compressor.longestValueWithDictionary }
    let bytes = samples.reduce(0) { $0 + $1.count }
    if bytes >= Self.sampleBytes / 4 {
      let trial = CompressionTrial(samples: samples)
      if trial.dictionaryPays(for: 3 * bytes) {
        try add(dictionary: nextDictionary, trial.dictionary, keyspace: keyspace)
        let content = unsafe trial.dictionary.withUnsafeBytes { unsafe LZ4Dictionary($0) }
        sections[keyspace]?.dictionary = (nextDictionary, content)
        nextDictionary = nextDictionary.next
      }
    }
    for version in pending { try write(version, keyspace) }
  }

  private mutating func write(_ version: PendingVersion, _ keyspace: KeyspaceID) throws(StoreError) {
    let value = version.value ?? []
    let dictionary = value.count <= LZ4Compressor.longestValueWithDictionary ? sections[keyspace]?.dictionary : nil
    let block = compressor.block(of: value, with: dictionary?.content)
    try unsafe version.key.withRawBytes { (key) throws(StoreError) in
      try unsafe (block ?? value).withRawBytes { (stored) throws(StoreError) in
        try unsafe builder.add(
          version.value == nil ? .tombstone : .put, keyspace: keyspace, key: key, value: stored,
          compressedFrom: block == nil ? nil : value.count, dictionary: block == nil ? 0 : dictionary?.id ?? 0,
          version: version.version, sequence: version.sequence)
      }
    }
  }

  // MARK: The end

  /// Completes the store, opens it, and checks that it contains all that was given.
  private consuming func finish() throws -> Contents {
    for keyspace in keyspaces { try settle(keyspace.id) }
    var contents = contents
    contents.keyspaces = keyspaces.map { ($0.name, sections[$0.id]?.rows ?? 0) }
    contents.rows = contents.keyspaces.reduce(0) { $0 + $1.rows }
    let (path, deletedRows) = (path, deletedRows)
    try builder.finish()

    let store = try Store.openForInspection(at: path)
    defer { try? store.close() }
    contents.bytes = store.statistics.logBytes
    for (name, rows) in contents.keyspaces {
      let found = try store.existingKeyspace(name).count()
      guard found == rows else {
        throw StoreError(
          .malformed,
          "only \(found) of \(rows) rows in \(Key.string(name).literal) have distinct keys"
        )
      }
    }
    let older = contents.versions - contents.rows - deletedRows
    guard store.statistics.olderVersions == older else {
      throw StoreError(
        .malformed,
        "only \(store.statistics.olderVersions) of \(older) older versions can be kept: their keyspaces keep fewer "
          + "versions, or two have the same sequence")
    }
    return contents
  }
}
