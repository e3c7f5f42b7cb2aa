/// What a checkpoint contains besides the nodes of the index: the log it belongs to, the commit it was made after, and
/// where the nodes of each keyspace are. FORMAT.md, section 8.
package struct CheckpointTables: Hashable, Sendable {
  /// Bytes before the first node: the header and zeros.
  package static let nodesStart = 4096
  /// Nodes are checksummed this many bytes at a time.
  package static let chunkSize = 1 << 20
  private static let headerSize = 128
  private static let magic: UInt64 = 0x4B48_434E_5249_4143  // "CAIRNCHK"
  /// The minor version of checkpoints only. A writer of minor version 0 could misplace rows in the trees of a store
  /// whose keyspaces retain older versions.
  private static let minorVersion: UInt16 = 1

  /// A segment that the index refers to.
  package struct Segment: Hashable, Sendable, Numbered {
    package var id: SegmentID
    package var epoch: UInt32
    /// The first of its extents in log addresses.
    package var extent: Int
    package var end: Int
    package var lastSequence: CommitSequence
    /// Bytes of tombstones that are not retained.
    package var tombstones: Int
  }

  /// Bytes of a keyspace's newest and retained records in a segment.
  package struct Live: Hashable, Sendable {
    /// The first extent of the segment.
    package var extent: Int
    package var bytes: Int
  }

  /// Where a keyspace's nodes are, in units of 64 bytes from the beginning of the file.
  package struct Keyspace: Hashable, Sendable, Numbered {
    package var id: KeyspaceID
    package var rows: Int
    /// 0 in an unordered keyspace, and in one without nodes.
    package var root: UInt32
    /// Addresses of the hash pages, in the directory's order; their number is a power of two, or 0 in a keyspace that
    /// has never had a row.
    package var directory: [UInt32]
    package var live: [Live]
    /// How many older versions of each row are retained, and the commit that set this number; 0 if none has.
    package var oldVersions: UInt32 = 0
    package var retainedSince: CommitSequence = 0
  }

  package struct Dictionary: Hashable, Sendable {
    package var id: DictionaryID
    package var keyspace: KeyspaceID
    package var content: [UInt8]
    /// Ids of the segments that may have values compressed with it, rising.
    package var segments: [SegmentID]
  }

  /// Incompatible feature bits.
  package var features: UInt64
  package var store: UInt128
  package var hashSeed: UInt64
  package var id: CheckpointID
  package var sequence: CommitSequence
  /// The place where the log continues.
  package var place: Place
  /// Logarithm of the number of units in an extent.
  package var extentShift: Int
  /// The number of extents given to segments so far.
  package var extentCount: Int
  /// The offset in the file where the nodes end.
  package var nodesEnd: Int
  package var chunkChecksums: [UInt32] = []
  package var segments: [Segment] = []
  package var keyspaces: [Keyspace] = []
  package var dictionaries: [Dictionary] = []
  /// The first node of each bucket of older versions, in units of 64 bytes from the beginning of the file; 0 for an
  /// empty bucket. The number of buckets is a power of two.
  package var versionBuckets: [UInt32] = []
  package var versionCount = 0

  package init(
    features: UInt64, store: UInt128, hashSeed: UInt64, id: CheckpointID, sequence: CommitSequence, place: Place,
    extentShift: Int,
    extentCount: Int
  ) {
    self.features = features
    self.store = store
    self.hashSeed = hashSeed
    self.id = id
    self.sequence = sequence
    self.place = place
    self.extentShift = extentShift
    self.extentCount = extentCount
    nodesEnd = Self.nodesStart
  }

  package var hasRetention: Bool { features & Format.retention != 0 }

  /// The header of the file, and the tables, which follow the nodes.
  func encoded() -> (header: [UInt8], tables: [UInt8]) {
    var tables = ByteWriter()
    for checksum in chunkChecksums { tables.append(checksum) }
    if chunkChecksums.count % 2 == 1 { tables.append(zeros: 4) }
    for segment in segments {
      tables.append(segment.id)
      tables.append(segment.epoch)
      tables.append(UInt32(segment.extent))
      tables.append(UInt32(segment.tombstones / Format.unit))
      tables.append(UInt64(segment.end))
      tables.append(segment.lastSequence)
    }
    for keyspace in keyspaces {
      tables.append(keyspace.id)
      tables.append(keyspace.root)
      tables.append(UInt64(keyspace.rows))
      tables.append(UInt32(keyspace.directory.count))
      tables.append(UInt32(keyspace.live.count))
      for page in keyspace.directory { tables.append(page) }
      if keyspace.directory.count % 2 == 1 { tables.append(zeros: 4) }
      for live in keyspace.live {
        tables.append(UInt32(live.extent))
        tables.append(zeros: 4)
        tables.append(UInt64(live.bytes))
      }
    }
    for dictionary in dictionaries {
      tables.append(dictionary.id)
      tables.append(dictionary.keyspace)
      tables.append(UInt32(dictionary.content.count))
      tables.append(UInt32(dictionary.segments.count))
      for segment in dictionary.segments { tables.append(segment) }
      if dictionary.segments.count % 2 == 1 { tables.append(zeros: 4) }
      tables.append(bytes: dictionary.content)
      tables.append(zeros: Format.padded(dictionary.content.count) - dictionary.content.count)
    }
    if hasRetention {
      for keyspace in keyspaces {
        tables.append(keyspace.oldVersions)
        tables.append(zeros: 4)
        tables.append(keyspace.retainedSince)
      }
      for bucket in versionBuckets { tables.append(bucket) }
      if versionBuckets.count % 2 == 1 { tables.append(zeros: 4) }
    }

    var header = ByteWriter()
    header.append(Self.magic)
    header.append(Format.majorVersion)
    header.append(Self.minorVersion)
    header.append(id)
    header.append(features)
    header.append(UInt64(0))
    header.append(store)
    header.append(sequence)
    header.append(place.packed)
    header.append(hashSeed)
    header.append(UInt32(extentShift))
    header.append(UInt32(extentCount))
    header.append(UInt64(nodesEnd))
    header.append(UInt64(tables.bytes.count))
    header.append(UInt32(chunkChecksums.count))
    header.append(UInt32(segments.count))
    header.append(UInt32(keyspaces.count))
    header.append(UInt32(dictionaries.count))
    header.append(UInt32(versionBuckets.count))
    header.append(UInt32(versionCount))
    header.append(CRC32C.checksum(tables.bytes))
    header.append(CRC32C.checksum(header.bytes))
    return (header.bytes, tables.bytes)
  }

  /// Why a checkpoint cannot be used, in words.
  package struct Problem: Error, Hashable, Sendable {
    package let text: String
    /// The error of the file layer that caused this, if one did.
    package let cause: FileError?

    package init(_ text: String) {
      self.text = text
      cause = nil
    }

    init(_ cause: FileError) {
      text = StoreError(cause).message
      self.cause = cause
    }
  }

  /// Reads the header and the tables of a whole file, and verifies the checksums of the nodes.
  package init(_ file: UnsafeRawBufferPointer) throws(Problem) {
    guard file.count >= Self.nodesStart else { throw Problem("it is truncated") }
    let head = unsafe UnsafeRawBufferPointer(rebasing: file.prefix(Self.headerSize))
    var reader = unsafe ByteReader(head)
    var end = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: head.suffix(4)))
    guard reader.next(UInt64.self) == Self.magic,
      unsafe end.next(UInt32.self) == CRC32C.checksum(UnsafeRawBufferPointer(rebasing: head.dropLast(4)))
    else { throw Problem("its header is invalid") }
    guard let major = reader.next(UInt16.self), let minor = reader.next(UInt16.self),
      let id = reader.next(CheckpointID.self),
      let incompatible = reader.next(UInt64.self), reader.next(UInt64.self) != nil,
      major == Format.majorVersion, incompatible & ~Format.knownFeatures == 0
    else { throw Problem("it was written by another version") }
    guard minor > 0 || incompatible & Format.retention == 0 else {
      throw Problem("it was written by a version that could misplace rows in its trees")
    }
    guard let store = reader.next(UInt128.self), let sequence = reader.next(CommitSequence.self),
      let place = reader.next(UInt64.self), let hashSeed = reader.next(UInt64.self),
      let extentShift = reader.next(UInt32.self), extentShift < 40, let extentCount = reader.next(UInt32.self),
      let nodesEnd = reader.next(UInt64.self), let tablesLength = reader.next(UInt64.self),
      let chunkCount = reader.next(UInt32.self), let segmentCount = reader.next(UInt32.self),
      let keyspaceCount = reader.next(UInt32.self), let dictionaryCount = reader.next(UInt32.self),
      let bucketCount = reader.next(UInt32.self), let versionCount = reader.next(UInt32.self),
      let tablesChecksum = reader.next(UInt32.self),
      incompatible & Format.retention != 0 || bucketCount == 0 && versionCount == 0,
      nodesEnd >= UInt64(Self.nodesStart), nodesEnd % 64 == 0, nodesEnd <= UInt64(file.count),
      tablesLength == UInt64(file.count) - nodesEnd,
      unsafe file[Self.headerSize..<Self.nodesStart].allSatisfy({ $0 == 0 })
    else { throw Problem("its header has invalid fields") }
    self.init(
      features: incompatible, store: store, hashSeed: hashSeed, id: id, sequence: sequence, place: Place(packed: place),
      extentShift: Int(extentShift), extentCount: Int(extentCount))
    self.nodesEnd = Int(nodesEnd)

    let tables = unsafe UnsafeRawBufferPointer(rebasing: file[self.nodesEnd...])
    guard unsafe CRC32C.checksum(tables) == tablesChecksum else { throw Problem("its tables are damaged") }
    reader = unsafe ByteReader(tables)
    guard Int(chunkCount) == (self.nodesEnd - Self.nodesStart + Self.chunkSize - 1) / Self.chunkSize else {
      throw Problem("it has the wrong number of checksums")
    }
    for chunk in 0..<Int(chunkCount) {
      guard let checksum = reader.next(UInt32.self) else { throw Problem("its tables are truncated") }
      let start = Self.nodesStart + chunk * Self.chunkSize
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: file[start..<min(start + Self.chunkSize, self.nodesEnd)])
      guard unsafe CRC32C.checksum(bytes) == checksum else { throw Problem("its nodes are damaged at byte \(start)") }
      chunkChecksums.append(checksum)
    }
    guard chunkCount % 2 == 0 || reader.zeros(4) else { throw Problem("its tables are invalid") }
    var extents: Set<UInt32> = []
    for _ in 0..<segmentCount {
      guard let id = reader.next(SegmentID.self), let epoch = reader.next(UInt32.self),
        let extent = reader.next(UInt32.self), extent < extentCount, let tombstones = reader.next(UInt32.self),
        let end = reader.next(UInt64.self), end <= 1 << 40, let last = reader.next(CommitSequence.self),
        id > segments.last?.id ?? 0, extents.insert(extent).inserted
      else { throw Problem("its list of segments is invalid") }
      segments.append(
        Segment(
          id: id, epoch: epoch, extent: Int(extent), end: Int(end), lastSequence: last,
          tombstones: Int(tombstones) * Format.unit))
    }
    for _ in 0..<keyspaceCount {
      guard let id = reader.next(KeyspaceID.self), let root = reader.next(UInt32.self),
        let rows = reader.next(UInt64.self), rows <= 1 << 48, let count = reader.next(UInt32.self),
        let liveCount = reader.next(UInt32.self),
        count.nonzeroBitCount == 1 || count == 0 && rows == 0 && root == 0, Int(count) <= reader.remaining / 4,
        id > keyspaces.last?.id ?? 0
      else { throw Problem("its list of keyspaces is invalid") }
      var directory: [UInt32] = []
      directory.reserveCapacity(Int(count))
      for _ in 0..<count { directory.append(reader.next(UInt32.self) ?? 0) }
      guard count % 2 == 0 || reader.zeros(4) else { throw Problem("its list of keyspaces is invalid") }
      var live: [Live] = []
      for _ in 0..<liveCount {
        guard let extent = reader.next(UInt32.self), reader.zeros(4), let bytes = reader.next(UInt64.self),
          bytes <= 1 << 40, extents.contains(extent)
        else { throw Problem("its count of live bytes is invalid") }
        live.append(Live(extent: Int(extent), bytes: Int(bytes)))
      }
      keyspaces.append(Keyspace(id: id, rows: Int(rows), root: root, directory: directory, live: live))
    }
    for _ in 0..<dictionaryCount {
      guard let id = reader.next(DictionaryID.self), id <= .highest, id > dictionaries.last?.id ?? 0,
        let keyspace = reader.next(KeyspaceID.self), keyspaces.index(of: keyspace) != nil,
        let length = reader.next(UInt32.self), (1...UInt32(LZ4Dictionary.maximumLength)).contains(length),
        let count = reader.next(UInt32.self), count <= segments.count
      else { throw Problem("its list of dictionaries is invalid") }
      var users: [SegmentID] = []
      for _ in 0..<count {
        guard let segment = reader.next(SegmentID.self), segment > users.last ?? 0,
          segments.index(of: segment) != nil
        else {
          throw Problem("its list of dictionaries is invalid")
        }
        users.append(segment)
      }
      guard reader.zeros(count % 2 == 0 ? 0 : 4), let content = reader.bytes(Int(length)),
        reader.zeros(Format.padded(Int(length)) - Int(length))
      else { throw Problem("its list of dictionaries is invalid") }
      dictionaries.append(Dictionary(id: id, keyspace: keyspace, content: content, segments: users))
    }
    if hasRetention {
      try readRetention(&reader, bucketCount: bucketCount, versionCount: UInt64(versionCount))
    }
    guard reader.remaining == 0 else { throw Problem("it has trailing bytes") }
  }

  private mutating func readRetention(
    _ reader: inout ByteReader, bucketCount: UInt32, versionCount: UInt64
  ) throws(Problem) {
    for index in keyspaces.indices {
      guard let oldVersions = reader.next(UInt32.self), reader.zeros(4), let since = reader.next(CommitSequence.self),
        since <= sequence
      else { throw Problem("its list of retentions is invalid") }
      keyspaces[index].oldVersions = oldVersions
      keyspaces[index].retainedSince = since
    }
    guard bucketCount.nonzeroBitCount == 1, Int(bucketCount) <= reader.remaining / 4,
      versionCount <= UInt64(nodesEnd / 64)
    else { throw Problem("its list of older versions is invalid") }
    versionBuckets.reserveCapacity(Int(bucketCount))
    for _ in 0..<bucketCount { versionBuckets.append(reader.next(UInt32.self) ?? 0) }
    guard bucketCount % 2 == 0 || reader.zeros(4) else { throw Problem("its list of older versions is invalid") }
    self.versionCount = Int(versionCount)
  }

  package static func fileName(_ id: CheckpointID) -> String { "\(Format.fileNumber(id)).checkpoint" }
}
