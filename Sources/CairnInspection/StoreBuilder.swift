package import Cairn

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes a new store of records that keep their sequences and versions.
///
/// The result looks as if everything had just been compacted: segments of kind 2 in a store of one epoch (FORMAT.md,
/// section 3). So the caller must add only needed records: of each row the newest, and the older ones that its keyspace
/// retains. There is no manifest, and so no store, before `finish()`.
package struct StoreBuilder: ~Copyable {
  private let files: any FileLayer
  private let clock: @Sendable () -> UInt64
  private let directory: any Directory
  private let lastSequence: CommitSequence
  private var manifest: Manifest
  private var segment: SegmentBuilder?

  /// - Parameters:
  ///   - path: a path at which there is nothing yet, or an empty directory.
  ///   - lastSequence: the newest commit; no sequence may be above it.
  ///   - segmentSize: 64 KiB to 1 GiB.
  /// - Throws: `alreadyExists` if there is something at the path; `noPermission`, `noSpace`, `inputOutput`.
  package init(
    at path: String, lastSequence: CommitSequence, segmentSize: Int, environment: Environment = .system
  ) throws(StoreError) {
    let files = environment.files
    let directory: any Directory
    do throws(FileError) {
      try files.createDirectory(path)
      directory = try files.directory(path)
    } catch {
      switch error.cause {
      case .exists, .system(ENOTDIR): throw StoreError(.alreadyExists, "\(path) is not a directory")
      default: throw StoreError(error)
      }
    }
    guard try StoreError.wrap({ () throws(FileError) in try directory.list() }).isEmpty else {
      throw StoreError(.alreadyExists, "the directory \(path) is not empty")
    }
    self.files = files
    self.directory = directory
    clock = environment.clock
    self.lastSequence = lastSequence
    let store = UInt128(environment.random()) << 64 | UInt128(environment.random())
    manifest = Manifest(store: store, hashSeed: environment.random(), segmentSize: segmentSize)
    manifest.generation = 1
    manifest.epoch = 1
    manifest.highestSequence = lastSequence
    manifest.chainSequence = lastSequence
  }

  // MARK: Adding

  /// Defines a keyspace, with the number of older versions to retain of each row. Keyspaces must be added in the order
  /// of their ids. The definition and the retention get the sequence `definedAt`.
  package mutating func add(_ keyspace: Manifest.Keyspace) throws(StoreError) {
    let order: [UInt8] = [keyspace.isOrdered ? 0 : 1]
    try add(.keyspaceDefinition, keyspace.id, Array(keyspace.name.utf8), order, keyspace.definedAt)
    if keyspace.oldVersions > 0 {
      let oldVersions = unsafe withUnsafeBytes(of: keyspace.oldVersions.littleEndian) { unsafe Array($0) }
      try add(.retention, keyspace.id, [], oldVersions, keyspace.definedAt)
      manifest.features |= Format.retention
    }
    manifest.keyspaces.append(keyspace)
    manifest.nextKeyspace = keyspace.id.next
  }

  /// Adds a dictionary for values of a keyspace. `block` is an LZ4 block of it, or nil.
  package mutating func add(
    dictionary id: DictionaryID, _ content: [UInt8], block: [UInt8]?, keyspace: KeyspaceID, sequence: CommitSequence
  ) throws(StoreError) {
    let key = unsafe withUnsafeBytes(of: id.rawValue.littleEndian) { unsafe Array($0) }
    try add(
      .dictionary, keyspace, key, block ?? content, sequence, compressedFrom: block == nil ? nil : content.count)
  }

  private mutating func add(
    _ kind: RecordKind, _ keyspace: KeyspaceID, _ key: [UInt8], _ value: [UInt8], _ sequence: CommitSequence,
    compressedFrom rawLength: Int? = nil
  ) throws(StoreError) {
    try unsafe key.withRawBytes { (key) throws(StoreError) in
      try unsafe value.withRawBytes { (value) throws(StoreError) in
        try unsafe add(
          kind, keyspace: keyspace, key: key, value: value, compressedFrom: rawLength, version: 0, sequence: sequence)
      }
    }
  }

  /// Adds a copy of a record of another store. The record's dictionary has to be added, with the same id.
  package mutating func add(copyOf record: RecordView) throws(StoreError) {
    let header = record.header
    guard let kind = header.kind else { throw StoreError(.corrupted, "a record has an unknown kind") }
    try unsafe add(
      kind, keyspace: header.keyspace, key: record.key, value: record.stored,
      compressedFrom: header.isCompressed ? header.rawLength : nil, dictionary: header.dictionary,
      version: header.version, sequence: header.sequence)
  }

  /// Adds a record. `value` is an LZ4 block if `rawLength` is given, made with a dictionary unless `dictionary` is 0.
  /// - Throws: `malformed` for a sequence above the newest commit; `noSpace`, `inputOutput`.
  package mutating func add(
    _ kind: RecordKind, keyspace: KeyspaceID, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
    compressedFrom rawLength: Int?, dictionary: DictionaryID = 0, version: UInt64, sequence: CommitSequence
  ) throws(StoreError) {
    guard sequence > 0, sequence <= lastSequence else {
      throw StoreError(.malformed, "sequence \(sequence) is not a commit from 1 to \(lastSequence)")
    }
    let header = RecordHeader(
      kind: kind, compressed: rawLength != nil, dictionary: dictionary, keyspace: keyspace, keyLength: key.count,
      storedLength: value.count, rawLength: rawLength ?? value.count, sequence: sequence, version: version,
      baseSequence: 0)
    do throws(FileError) {
      if let full = segment, full.length + header.paddedLength > manifest.segmentSize, !full.isEmpty {
        try close()
      }
      if segment == nil { segment = try open() }
      try unsafe segment?.add(header, key, value)
    } catch {
      throw StoreError(error)
    }
  }

  // MARK: Segments

  private mutating func open() throws(FileError) -> SegmentBuilder {
    let header = SegmentHeader(
      kind: .compacted, store: manifest.store, id: manifest.nextSegment, epoch: manifest.epoch, baseSequence: 0,
      created: clock(), watermark: .none, recoveredEnd: Place(segment: 0, offset: 0), compactedSequence: lastSequence)
    manifest.nextSegment = manifest.nextSegment.next
    return try SegmentBuilder(
      header, try directory.open(Segment.fileName(header.id), .create), clock: clock)
  }

  private mutating func close() throws(FileError) {
    guard var full = segment else { return }
    segment = nil
    let end = try full.finish()
    manifest.segments.append(
      Manifest.Segment(id: full.header.id, epoch: manifest.epoch, end: end, lastSequence: lastSequence))
  }

  // MARK: The end

  /// Makes everything durable, and then writes the manifest, which makes it a store.
  package consuming func finish() throws(StoreError) {
    do throws(FileError) {
      try close()
      try directory.sync()
      try ManifestFile(directory: directory).replace(with: manifest)
      try files.syncDirectory(SystemFileLayer.split(directory.path).parent)
    } catch {
      throw StoreError(error)
    }
  }
}

/// Builds a segment of kind 2: frames of whole records, one after the other.
private struct SegmentBuilder {
  private static let frameLength = 1 << 18
  private static let reservedAhead = 8 << 20

  let header: SegmentHeader
  private let file: any File
  private let clock: @Sendable () -> UInt64
  /// Where the current frame begins.
  private var offset = SegmentHeader.size
  private var frame = [UInt8](repeating: 0, count: FrameHeader.size)
  private var recordChecksums: [UInt32] = []
  private var frameNumber: CommitSequence = 0
  private var reserved = 0

  init(_ header: SegmentHeader, _ file: any File, clock: @escaping @Sendable () -> UInt64) throws(FileError) {
    self.header = header
    self.file = file
    self.clock = clock
    try reserve(SegmentHeader.size)
    try file.writeAll(header.encoded(), at: 0)
  }

  /// Length of the file once the current frame is written, in bytes.
  var length: Int { offset + frame.count }

  var isEmpty: Bool { offset == SegmentHeader.size && recordChecksums.isEmpty }

  mutating func add(
    _ record: RecordHeader, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(FileError) {
    let start = frame.count
    // No exact length for each record, which would move the frame each time.
    frame.reserveCapacity(max(Self.frameLength, start + record.paddedLength))
    frame.append(contentsOf: repeatElement(0, count: record.length))
    unsafe frame.append(contentsOf: key)
    unsafe frame.append(contentsOf: value)
    let baseSequence = header.baseSequence
    let checksum = unsafe frame.withUnsafeMutableBytes { bytes in
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped + start
      unsafe record.write(to: base, baseSequence: baseSequence)
      let checksum = unsafe ~CRC32C.register(header.seed.start(offset + start), base + 4, record.recordLength - 4)
      unsafe base.storeBytes(of: checksum.littleEndian, as: UInt32.self)
      return checksum.littleEndian
    }
    recordChecksums.append(checksum)
    frame.append(contentsOf: repeatElement(0, count: record.paddedLength - record.recordLength))
    if frame.count >= Self.frameLength { try flush() }
  }

  private mutating func flush() throws(FileError) {
    guard !recordChecksums.isEmpty else { return }
    frameNumber = frameNumber.next
    let frameHeader = FrameHeader(
      length: frame.count, recordCount: recordChecksums.count, sequence: frameNumber, time: clock(), watermark: .none)
    unsafe frame.withUnsafeMutableBytes { bytes in
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      unsafe frameHeader.write(to: base)
      var register = unsafe CRC32C.register(header.seed.start(offset), base + 8, FrameHeader.size - 8)
      register = unsafe recordChecksums.withUnsafeBytes {
        unsafe CRC32C.register(register, $0.baseAddress.unsafelyUnwrapped, $0.count)
      }
      unsafe base.storeBytes(of: (~register).littleEndian, toByteOffset: 4, as: UInt32.self)
    }
    try reserve(offset + frame.count)
    try file.writeAll(frame, at: offset)
    offset += frame.count
    frame.removeAll(keepingCapacity: frame.count <= 4 * Self.frameLength)
    frame.append(contentsOf: repeatElement(0, count: FrameHeader.size))
    recordChecksums.removeAll(keepingCapacity: true)
  }

  /// Reserves space ahead, so that a lack of space is found before anything is written.
  private mutating func reserve(_ length: Int) throws(FileError) {
    guard length > reserved else { return }
    reserved = length + Self.reservedAhead
    try file.reserve(reserved)
  }

  /// Writes the remaining records; all but the file's name is durable on return. Returns the length of the file.
  mutating func finish() throws(FileError) -> Int {
    try flush()
    try file.truncate(offset)
    try file.sync()
    file.close()
    return offset
  }
}
