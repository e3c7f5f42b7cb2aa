import Cairn

/// The names of keyspaces. The manifest stops listing a keyspace some time after its drop; then only the records of its
/// definition and of its drop name it, and either of the two may be anywhere in the log.
struct KeyspaceNames {
  private var names: [KeyspaceID: String] = [:]
  /// Whether all names in the log have been learned.
  private var isComplete = false

  /// The name of a keyspace; nil if it has not been learned.
  subscript(keyspace: KeyspaceID) -> String? { names[keyspace] }

  /// The name of a keyspace; nil if nothing in the log names it. Reads the whole log for the first name that has not
  /// been learned.
  mutating func name(of keyspace: KeyspaceID, in log: LogReader) throws(StoreError) -> String? {
    if names[keyspace] == nil, !isComplete {
      for entry in log.entries { try log.segment(entry)?.forEachRecord { record, _ in learn(record) } }
      isComplete = true
    }
    return names[keyspace]
  }

  /// Notes the names that the manifest lists.
  mutating func learn(_ manifest: Manifest) {
    for keyspace in manifest.keyspaces { names[keyspace.id] = keyspace.name }
  }

  /// Notes the name in a record, if there is one.
  mutating func learn(_ record: RecordView) {
    if let name = record.definition?.name ?? record.droppedName { names[record.header.keyspace] = name }
  }
}
