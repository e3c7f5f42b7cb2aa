/// The list of what the store consists of. FORMAT.md, section 2.
package struct Manifest: Hashable, Sendable {
  package struct Segment: Hashable, Sendable, Numbered {
    package var id: SegmentID
    package var epoch: UInt32
    /// Length of the valid bytes of a sealed segment; nil while it may grow.
    package var end: Int?
    package var baseSequence: CommitSequence
    package var lastSequence: CommitSequence

    package init(
      id: SegmentID, epoch: UInt32 = 0, end: Int? = nil, baseSequence: CommitSequence = 0,
      lastSequence: CommitSequence = 0
    ) {
      self.id = id
      self.epoch = epoch
      self.end = end
      self.baseSequence = baseSequence
      self.lastSequence = lastSequence
    }
  }

  package struct Keyspace: Hashable, Sendable, Numbered {
    package var id: KeyspaceID
    package var isOrdered: Bool
    package var definedAt: CommitSequence
    package var name: String
    /// At least the number of older versions of each row that are retained; the exact number is in the log.
    package var oldVersions: UInt32 = 0
    /// The commit that dropped it; known from the log, and not stored in the manifest.
    package var droppedAt: CommitSequence = .max

    package init(id: KeyspaceID, isOrdered: Bool, definedAt: CommitSequence, name: String, oldVersions: UInt32 = 0) {
      self.id = id
      self.isOrdered = isOrdered
      self.definedAt = definedAt
      self.name = name
      self.oldVersions = oldVersions
    }
  }

  package struct Checkpoint: Hashable, Sendable {
    package var id: CheckpointID
    package var sequence: CommitSequence
    /// The place where the log continues after the checkpoint.
    package var place: Place
    /// Length of the file in bytes.
    package var length: Int
  }

  /// Somebody who reads the changes of the store, and for whom compaction keeps deletions.
  package struct ChangeReader: Hashable, Sendable {
    package var name: String
    /// The commit up to which it knows all changes.
    package var sequence: CommitSequence
    /// When it was last heard of, or had nothing to read, in nanoseconds since 1970.
    package var heard: UInt64
    package var mostBytes: Int
    package var longestTime: UInt64
    /// Whether deletions are kept for it; false once it is too far behind.
    package var isHeld = true
  }

  package var store: UInt128
  /// Incompatible feature bits, without that of change readers, which follows from the contents.
  package var features: UInt64 = 0
  /// Compatible feature bits. A reader may ignore those that it does not know; a writer that does not know one refuses
  /// to write.
  package var compatibleFeatures: UInt64 = 0
  package var generation: UInt64 = 0
  package var hashSeed: UInt64
  package var segmentSize: Int
  package var epoch: UInt32 = 0
  /// How often the store has been taken back to an earlier commit.
  package var timeline: UInt64 = 0
  package var nextSegment: SegmentID = 1
  package var nextKeyspace: KeyspaceID = 1
  package var highestSequence: CommitSequence = 0
  /// The last commit of all sealed segments of the chain, compacted since or not. The first segment that is not sealed
  /// follows this commit.
  package var chainSequence: CommitSequence = 0
  package var segments: [Segment] = []
  package var keyspaces: [Keyspace] = []
  /// Oldest first.
  package var checkpoints: [Checkpoint] = []
  /// The log may lack deletions at or before this commit, and has all later ones.
  package var forgottenSequence: CommitSequence = 0
  /// In the order of their names.
  package var changeReaders: [ChangeReader] = []

  private static let magic: UInt64 = 0x4E41_4D4E_5249_4143  // "CAIRNMAN"
  private static let fixedSize = 128
  /// Enough for as many segments as there are log addresses for, and all keyspaces.
  package static let maximumLength = 256 << 20

  package init(store: UInt128, hashSeed: UInt64, segmentSize: Int) {
    self.store = store
    self.hashSeed = hashSeed
    self.segmentSize = segmentSize
  }

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Format.majorVersion)
    writer.append(Format.minorVersion)
    let names = keyspaces.reduce(0) { $0 + 24 + Format.padded($1.name.utf8.count) }
    let readers = encodedReaders
    writer.append(UInt32(Self.fixedSize + 32 * segments.count + names + 32 * checkpoints.count + readers.count + 8))
    writer.append(readers.isEmpty ? features : features | Format.changeReaders)
    writer.append(compatibleFeatures)
    writer.append(store)
    writer.append(generation)
    writer.append(hashSeed)
    writer.append(UInt64(segmentSize))
    writer.append(epoch)
    writer.append(nextSegment)
    writer.append(nextKeyspace)
    writer.append(UInt32(segments.count))
    writer.append(UInt32(keyspaces.count))
    writer.append(UInt32(checkpoints.count))
    writer.append(timeline)
    writer.append(highestSequence)
    writer.append(chainSequence)
    writer.append(zeros: 8)
    for segment in segments {
      writer.append(segment.id)
      writer.append(segment.epoch)
      writer.append(UInt64(segment.end ?? 0))
      writer.append(segment.baseSequence)
      writer.append(segment.lastSequence)
    }
    for keyspace in keyspaces {
      let name = Array(keyspace.name.utf8)
      writer.append(keyspace.id)
      writer.append(UInt8(keyspace.isOrdered ? 0 : 1))
      writer.append(UInt8(1))
      writer.append(UInt16(name.count))
      writer.append(keyspace.definedAt)
      writer.append(keyspace.oldVersions)
      writer.append(zeros: 4)
      writer.append(bytes: name)
      writer.append(zeros: Format.padded(name.count) - name.count)
    }
    for checkpoint in checkpoints {
      writer.append(checkpoint.id)
      writer.append(zeros: 4)
      writer.append(checkpoint.sequence)
      writer.append(checkpoint.place.packed)
      writer.append(UInt64(checkpoint.length))
    }
    writer.append(bytes: readers)
    writer.append(CRC32C.checksum(writer.bytes))
    writer.append(zeros: 4)
    return writer.bytes
  }

  private var encodedReaders: [UInt8] {
    guard forgottenSequence > 0 || !changeReaders.isEmpty else { return [] }
    var writer = ByteWriter()
    writer.append(forgottenSequence)
    writer.append(UInt32(changeReaders.count))
    writer.append(zeros: 4)
    for reader in changeReaders {
      let name = Array(reader.name.utf8)
      writer.append(reader.sequence)
      writer.append(reader.heard)
      writer.append(UInt64(reader.mostBytes))
      writer.append(reader.longestTime)
      writer.append(UInt16(name.count))
      writer.append(UInt8(reader.isHeld ? 1 : 0))
      writer.append(zeros: 5)
      writer.append(bytes: name)
      writer.append(zeros: Format.padded(name.count) - name.count)
    }
    return writer.bytes
  }

  private mutating func readChangeReaders(_ reader: inout ByteReader) -> Bool {
    guard let forgotten = reader.next(CommitSequence.self), forgotten <= Format.maximumSequence,
      let count = reader.next(UInt32.self), reader.zeros(4)
    else { return false }
    forgottenSequence = forgotten
    for _ in 0..<count {
      guard let sequence = reader.next(CommitSequence.self), sequence <= Format.maximumSequence,
        let heard = reader.next(UInt64.self), let bytes = reader.next(UInt64.self), bytes <= UInt64(Int.max),
        let time = reader.next(UInt64.self), let length = reader.next(UInt16.self), length > 0,
        let state = reader.next(UInt8.self), state <= 1, reader.zeros(5), let name = reader.bytes(Int(length)),
        let text = String(validating: name, as: UTF8.self), reader.zeros(Format.padded(name.count) - name.count),
        changeReaders.last.map({ $0.name.utf8.lexicographicallyPrecedes(text.utf8) }) ?? true
      else { return false }
      changeReaders.append(
        ChangeReader(
          name: text, sequence: sequence, heard: heard, mostBytes: Int(bytes), longestTime: time, isHeld: state == 1))
    }
    return true
  }

  /// Where the field with the generation ends.
  static let generationEnd = 56

  /// The generation in the first bytes of a manifest; nil if they are not those of one. Verifies nothing else.
  static func generation(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    var reader = unsafe ByteReader(bytes)
    guard reader.next(UInt64.self) == magic, reader.bytes(generationEnd - 16) != nil else { return nil }
    return reader.next(UInt64.self)
  }

  package enum Problem: Error, Hashable, Sendable {
    /// The file does not begin as a manifest does.
    case foreign
    case newerFormat
    /// The file begins as a manifest does, and is damaged; the text says where.
    case damaged(String)
  }

  package init(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
    var reader = unsafe ByteReader(bytes)
    guard reader.next(UInt64.self) == Self.magic else { throw .foreign }
    guard let major = reader.next(UInt16.self), reader.next(UInt16.self) != nil, let length = reader.next(UInt32.self)
    else { throw .damaged("truncated") }
    guard major == Format.majorVersion else { throw major == 0 ? .damaged("version 0") : .newerFormat }
    guard Int(length) == bytes.count, bytes.count >= Self.fixedSize + 8 else { throw .damaged("wrong length") }
    let body = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
    var end = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
    guard unsafe end.next(UInt32.self) == CRC32C.checksum(body), end.zeros(4) else { throw .damaged("wrong checksum") }
    guard let incompatible = reader.next(UInt64.self), let compatible = reader.next(UInt64.self) else {
      throw .damaged("truncated")
    }
    guard incompatible & ~Format.knownFeatures == 0 else { throw .newerFormat }

    guard let store = reader.next(UInt128.self), let generation = reader.next(UInt64.self),
      let hashSeed = reader.next(UInt64.self), let segmentSize = reader.next(UInt64.self), segmentSize <= 1 << 40,
      let epoch = reader.next(UInt32.self), let nextSegment = reader.next(SegmentID.self),
      let nextKeyspace = reader.next(KeyspaceID.self), let segmentCount = reader.next(UInt32.self),
      let keyspaceCount = reader.next(UInt32.self), let checkpointCount = reader.next(UInt32.self),
      let timeline = reader.next(UInt64.self), timeline == 0 || incompatible & Format.timelines != 0,
      let highest = reader.next(CommitSequence.self),
      let chain = reader.next(CommitSequence.self),
      reader.zeros(8), chain <= highest, generation <= Format.maximumGeneration, epoch <= Format.maximumID,
      (1...SegmentID.highest.next).contains(nextSegment), (1...KeyspaceID.highest.next).contains(nextKeyspace),
      highest <= Format.maximumSequence
    else { throw .damaged("invalid header") }
    self.init(store: store, hashSeed: hashSeed, segmentSize: Int(segmentSize))
    features = incompatible & ~Format.changeReaders
    compatibleFeatures = compatible
    self.generation = generation
    self.epoch = epoch
    self.timeline = timeline
    self.nextSegment = nextSegment
    self.nextKeyspace = nextKeyspace
    highestSequence = highest
    chainSequence = chain

    for _ in 0..<segmentCount {
      guard let id = reader.next(SegmentID.self), let epoch = reader.next(UInt32.self),
        let end = reader.next(UInt64.self), end <= 1 << 40, let base = reader.next(CommitSequence.self),
        let last = reader.next(CommitSequence.self),
        id > segments.last?.id ?? 0, id < nextSegment
      else { throw .damaged("invalid segment entry") }
      segments.append(
        Segment(id: id, epoch: epoch, end: end == 0 ? nil : Int(end), baseSequence: base, lastSequence: last))
    }
    for _ in 0..<keyspaceCount {
      guard let id = reader.next(KeyspaceID.self), let order = reader.next(UInt8.self), order <= 1,
        reader.next(UInt8.self) == 1, let nameLength = reader.next(UInt16.self),
        let defined = reader.next(CommitSequence.self),
        let oldVersions = reader.next(UInt32.self), oldVersions == 0 || features & Format.retention != 0,
        reader.zeros(4), let name = reader.bytes(Int(nameLength)),
        let text = String(validating: name, as: UTF8.self),
        reader.zeros(Format.padded(name.count) - name.count), id > keyspaces.last?.id ?? 0, id < nextKeyspace,
        defined <= highest
      else { throw .damaged("invalid keyspace entry") }
      keyspaces.append(
        Keyspace(id: id, isOrdered: order == 0, definedAt: defined, name: text, oldVersions: oldVersions))
    }
    for _ in 0..<checkpointCount {
      guard let id = reader.next(CheckpointID.self), reader.zeros(4), let sequence = reader.next(CommitSequence.self),
        let place = reader.next(UInt64.self), let length = reader.next(UInt64.self), length <= 1 << 40,
        id > checkpoints.last?.id ?? 0, id <= .highest, sequence >= checkpoints.last?.sequence ?? 0,
        sequence <= Format.maximumSequence
      else { throw .damaged("invalid checkpoint entry") }
      checkpoints.append(
        Checkpoint(id: id, sequence: sequence, place: Place(packed: place), length: Int(length)))
    }
    guard incompatible & Format.changeReaders == 0 || readChangeReaders(&reader) else {
      throw .damaged("invalid change readers")
    }
    guard reader.remaining == 8 else { throw .damaged("trailing bytes") }
  }
}
