package import Cairn

/// One record as it is in the log.
package struct LogRecord: Sendable {
  package let place: Place
  /// The offset of the record's frame; nil if that frame is invalid.
  package let frame: Int?
  /// The time of the record's commit, in nanoseconds since 1970; nil if the record's frame is invalid, or if compaction
  /// wrote it.
  package let time: UInt64?
  /// nil for a kind that this version does not know.
  package let kind: RecordKind?
  package let keyspace: KeyspaceID
  /// The name of the record's keyspace; nil if neither the log nor the manifest has one.
  package let keyspaceName: String?
  package let key: LogKey
  package let sequence: CommitSequence
  package let version: UInt64
  /// Bytes of the record with its padding.
  package let length: Int
  package let storedBytes: Int
  package let valueBytes: Int
  package let isCompressed: Bool
  /// The dictionary that the value is compressed with; 0 for none.
  package let dictionary: DictionaryID

  init(_ record: RecordView, at place: Place, frame: Int?, time: UInt64?, keyspaceName: String?) {
    let header = record.header
    self.place = place
    self.frame = frame
    self.time = time
    kind = header.kind
    keyspace = header.keyspace
    self.keyspaceName = keyspaceName
    key = LogKey(record)
    sequence = header.sequence
    version = header.version
    length = header.paddedLength
    storedBytes = header.storedLength
    valueBytes = header.rawLength
    isCompressed = header.isCompressed
    dictionary = header.dictionary
  }
}

/// The decoded key of a record; its meaning depends on the record's kind.
package enum LogKey: Sendable, Hashable {
  case row(Key)
  /// The name in a keyspace's definition.
  case name(String)
  /// The number of a dictionary.
  case dictionary(DictionaryID)
  case none
  /// Bytes that are not what a record of its kind should have.
  case malformed([UInt8])

  init(_ record: RecordView) {
    let malformed = unsafe LogKey.malformed(Array(record.key))
    switch record.header.kind {
    case .put, .tombstone:
      do throws(MalformedKey) {
        self = unsafe .row(try Key(validating: record.key.bytes))
      } catch {
        self = malformed
      }
    case .keyspaceDropped where record.header.keyLength == 0: self = .none
    case .keyspaceDefinition, .keyspaceDropped:
      self = unsafe String(validating: record.key, as: UTF8.self).map(LogKey.name) ?? malformed
    case .dictionary: self = record.dictionary.map { .dictionary($0.id) } ?? malformed
    case .retention: self = record.header.keyLength == 0 ? .none : malformed
    case nil: self = malformed
    }
  }
}

extension RecordKind {
  /// The name in FORMAT.md.
  package var name: String {
    switch self {
    case .put: "put"
    case .tombstone: "tombstone"
    case .keyspaceDefinition: "keyspace definition"
    case .keyspaceDropped: "keyspace dropped"
    case .dictionary: "dictionary"
    case .retention: "retention"
    }
  }
}

extension RecordView {
  /// The contents of a keyspace definition; nil if they make no sense.
  var definition: (name: String, isOrdered: Bool)? {
    guard header.kind == .keyspaceDefinition, unsafe stored.count == 1, unsafe stored[0] <= 1,
      let name = unsafe String(validating: key, as: UTF8.self), !name.isEmpty
    else { return nil }
    return unsafe (name, stored[0] == 0)
  }
  /// The name in the record of a keyspace's drop; nil if it has none.
  var droppedName: String? {
    guard header.kind == .keyspaceDropped, header.keyLength > 0 else { return nil }
    return unsafe String(validating: key, as: UTF8.self)
  }
}
