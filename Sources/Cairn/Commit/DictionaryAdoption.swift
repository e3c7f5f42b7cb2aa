import Synchronization

/// Makes a dictionary the one that a keyspace's new values are compressed with.
final class DictionaryAdoption: Commit {
  private let keyspace: KeyspaceIndex
  private let content: [UInt8]
  private let stored: [UInt8]?
  private var id: DictionaryID = 0

  /// - Parameter stored: the content as an LZ4 block; nil to store it uncompressed.
  init(_ content: [UInt8], stored: [UInt8]?, for keyspace: KeyspaceIndex) {
    self.content = content
    self.stored = stored
    self.keyspace = keyspace
  }

  func prepare(_ writer: inout Writer) -> FrameNeeds? {
    guard keyspace.droppedAt.load(ordering: .relaxed) == .max, keyspace.definedAt.load(ordering: .relaxed) > 0,
      let id = writer.index.dictionaries.nextID
    else { return nil }
    self.id = id
    return FrameNeeds(bound: FrameHeader.size + RecordHeader.maximumLength + 4 + (stored ?? content).count)
  }

  func write(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError) {
    _ = try unsafe withUnsafeBytes(of: id.rawValue.littleEndian) { (key) throws(StoreError) in
      try unsafe (stored ?? content).withRawBytes { (value) throws(StoreError) in
        try unsafe writer.assembly.add(
          .dictionary, keyspace: keyspace.id, key: key, value: value,
          compressedFrom: stored == nil ? nil : content.count, version: 0)
      }
    }
  }

  func apply(_ sequence: CommitSequence, _ writer: inout Writer) {}

  func finish(_ sequence: CommitSequence, _ writer: inout Writer) {
    let dictionary = StoredDictionary(id: id, keyspace: keyspace.id, content: content)
    writer.index.dictionaries.add(dictionary)
    unsafe keyspace.dictionary.store(Unmanaged.passUnretained(dictionary), ordering: .releasing)
  }
}
