import Cairn

/// Builds a new store from a dump.
package struct StoreLoading {
  package enum Form: Sendable {
    /// Berkeley DB's text format. A section without a name becomes a keyspace with the name `unnamed`.
    case berkeley(DumpKeys, unnamed: String, isOrdered: Bool)
    case jsonLines
  }

  private let path: String
  private let form: Form
  private let progress: InspectionProgress?
  /// Settings of the dump that were ignored, in words.
  package private(set) var remarks: [String] = []

  package init(at path: String, _ form: Form, progress: InspectionProgress? = nil) {
    self.path = path
    self.form = form
    self.progress = progress
  }

  /// Loads the whole dump.
  /// - Throws: `malformed` with the number of the line; what building a store throws. After an error, there is no new
  ///   store.
  package mutating func load(_ lines: LineReader) throws -> NewStore.Contents {
    switch form {
    case .berkeley(let keys, let unnamed, let isOrdered):
      return try loadBerkeley(BerkeleyReader(lines), keys, unnamed: unnamed, isOrdered: isOrdered)
    case .jsonLines: return try loadLines(JSONLinesReader(lines))
    }
  }

  private func report(_ rows: Int) throws(StoreError) {
    guard rows % 1024 != 0 || progress?(rows, 0) ?? true else {
      throw StoreError(.cancelled, "loading was cancelled")
    }
  }

  // MARK: Berkeley DB's format

  /// All rows get the sequence of the first commit.
  private mutating func loadBerkeley(
    _ reader: BerkeleyReader, _ keys: DumpKeys, unnamed: String, isOrdered: Bool
  ) throws -> NewStore.Contents {
    var reader = reader
    var remarks: [String] = []
    defer { self.remarks = remarks }
    return try NewStore.make(at: path, lastSequence: 1) { store in
      var id: KeyspaceID = 0
      var rows = 0
      var (item, value): ([UInt8], [UInt8]) = ([], [])
      while let section = try reader.nextSection() {
        let name = section.name ?? unnamed
        for remark in section.remarks { remarks.append("\(Key.string(name).literal): \(remark)") }
        id = id.next
        try store.add(Manifest.Keyspace(id: id, isOrdered: isOrdered, definedAt: 1, name: name))
        var previous: [UInt8]?
        while try reader.nextRow(&item, &value) {
          guard item != previous else {
            throw reader.problem("the key appears twice, but a row has only one value")
          }
          previous = item
          try store.add(value, at: try key(item, keys, reader), in: id, version: 1, sequence: 1)
          rows += 1
          try report(rows)
        }
      }
    }
  }

  private func key(_ item: [UInt8], _ keys: DumpKeys, _ reader: BerkeleyReader) throws(StoreError) -> [UInt8] {
    guard let type = keys.type else {
      guard (try? Key(encoded: item)) != nil else {
        throw reader.problem(
          "the key is not encoded correctly; use --keys bytes or --keys text")
      }
      return item
    }
    guard keys == .bytes || String(validating: item, as: UTF8.self) != nil else {
      throw reader.problem("the key is not UTF-8; --keys bytes accepts any key")
    }
    return [type] + item
  }

  // MARK: JSON Lines

  private func loadLines(_ reader: JSONLinesReader) throws -> NewStore.Contents {
    var reader = reader
    return try NewStore.make(at: path, lastSequence: reader.lastSequence) { store in
      var rows = 0
      while let item = try reader.next() {
        do throws(StoreError) {
          switch item {
          case .keyspace(let keyspace):
            try store.add(
              Manifest.Keyspace(
                id: keyspace.id, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt, name: keyspace.name,
                oldVersions: UInt32(keyspace.retention - 1)))
          case .version(let version):
            try store.add(
              version.value, at: version.key.encoded, in: version.keyspace, version: version.version,
              sequence: version.sequence, isOld: version.isOld)
            rows += 1
            try report(rows)
          }
        } catch {
          throw error.code == .malformed ? reader.problem(error.message) : error
        }
      }
    }
  }
}
