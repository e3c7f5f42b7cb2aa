package import Cairn

extension RowVersion {
  /// All versions of a row in a log, newest first, including those that the store no longer keeps, and the sequences of
  /// those whose values cannot be read. Reads the whole log.
  package static func all(
    of key: Key, in keyspace: Keyspace, _ log: LogReader
  ) throws(StoreError) -> (versions: [RowVersion], unreadable: [CommitSequence]) {
    var values = ValueReader()
    var records: [(record: RecordView, mapping: any Mapping)] = []
    let key = key.encoded
    for entry in log.entries {
      guard let segment = try log.segment(entry) else { continue }
      segment.forEachRecord { record, _ in
        values.learn(record)
        guard record.header.keyspace == keyspace.id, record.header.isPut || record.header.isTombstone,
          unsafe record.key.elementsEqual(key)
        else { return }
        records.append((record, segment.mapping))
      }
    }
    // Compaction and a writer may have left two records of one sequence; both have the same contents.
    var versions: [CommitSequence: RowVersion] = [:]
    for (record, _) in records {
      let header = record.header
      do throws(StoreError) {
        let value = header.isTombstone ? nil : try values.value(of: record)
        versions[header.sequence] = RowVersion(value: value, version: header.version, sequence: header.sequence)
      } catch {
        // The other record of this sequence may be readable.
      }
    }
    let unreadable = Set(records.map(\.record.header.sequence)).subtracting(versions.keys)
    return (versions.values.sorted { $0.sequence > $1.sequence }, unreadable.sorted(by: >))
  }
}

/// Reads the values of records of the log, without an index.
package struct ValueReader {
  /// By id.
  private var dictionaries: [DictionaryID: [UInt8]] = [:]

  /// Notes the dictionary in a record, if there is one.
  package mutating func learn(_ record: RecordView) {
    if record.header.kind == .dictionary, let dictionary = record.dictionary {
      dictionaries[dictionary.id] = dictionary.content
    }
  }

  package func knows(_ dictionary: DictionaryID) -> Bool { dictionaries[dictionary] != nil }

  /// The value as it was put.
  /// - Throws: `corrupted` where it cannot be decompressed.
  package func value(of record: RecordView) throws(StoreError) -> [UInt8] {
    guard record.header.isCompressed else { return unsafe Array(record.stored) }
    let length = record.header.rawLength
    if LZ4.isPlausible(stored: record.header.storedLength, raw: length),
      record.header.dictionary == 0 || dictionaries[record.header.dictionary] != nil
    {
      var value = [UInt8](repeating: 0, count: length)
      let dictionary = dictionaries[record.header.dictionary] ?? []
      let isWhole = unsafe value.withUnsafeMutableBytes { target in
        unsafe dictionary.withUnsafeBytes { unsafe LZ4.decompress(record.stored, with: $0, into: target) }
      }
      if isWhole { return value }
    }
    throw StoreError(.corrupted, "a value cannot be decompressed")
  }
}
