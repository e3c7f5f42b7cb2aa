public import Cairn

/// Describes a store and its contents. Takes no lock; a writer may be at work.
public struct StoreInfo: Sendable {
  /// One keyspace.
  public struct Keyspace: Sendable, Hashable {
    /// The number that identifies the keyspace in the log.
    public let id: KeyspaceID
    /// The name, unique in the store.
    public let name: String
    /// Whether its rows can be walked in the order of their keys.
    public let order: Cairn.Keyspace.Order
    /// The number of rows.
    public let rows: Int
    /// How many versions of each row are kept.
    public let retention: Retention
    /// The commit that defined the keyspace.
    public let definedAt: CommitSequence
    /// Bytes of the newest records of its rows, and of older ones that it retains.
    public let liveBytes: Int
    /// Bytes of each dictionary that its values may be compressed with.
    public let dictionaries: [Int]
  }

  /// One segment that the manifest lists.
  public struct Segment: Sendable, Hashable {
    /// The role of the segment in the log.
    public enum State: String, Sendable, Hashable {
      /// Complete and durable.
      case sealed
      /// Written by compaction; complete and durable.
      case compacted
      /// Being written to, or not sealed by the last writer.
      case open
      /// Prepared for writes to come.
      case unused
    }

    /// The number in its file's name.
    public let id: SegmentID
    /// The role of the segment in the log.
    public let state: State
    /// The epoch of the open that wrote the segment; 0 while the segment is unused.
    public let epoch: UInt32
    /// Length of the header and all frames.
    public let end: Int
    /// Length of the file.
    public let fileBytes: Int
    /// Frames in the segment; each is a commit, unless compaction wrote the segment.
    public let frames: Int
    /// Records in those frames, such as changes of rows and definitions of keyspaces.
    public let records: Int
  }

  /// The directory, as it was given.
  public let path: String
  /// The UUID in its usual notation.
  public let uuid: String
  /// How often the manifest has been replaced.
  public let generation: UInt64
  /// How often the store has been opened and then written to.
  public let epoch: UInt32
  /// Major and minor version of the format.
  public let formatVersion: String
  /// Whether it is a backup, which can only be read.
  public let isBackup: Bool
  /// Full size of a segment in bytes.
  public let segmentBytes: Int
  /// The keyspaces, sorted by id.
  public let keyspaces: [Keyspace]
  /// The segments, sorted by id.
  public let segments: [Segment]
  /// The commits at which there are checkpoints, oldest first.
  public let checkpoints: [CommitSequence]
  /// The engine's statistics, as a reader sees them.
  public let statistics: StoreStatistics
  /// What opening the store found.
  public let recovery: RecoveryReport
  /// The names of the Core Data objects; nil if there are none, or if their schema cannot be read.
  package let names: ObjectNames?

  private static let attempts = 8

  /// Takes about as long as opening the store, and reads the header of every frame. `progress` is
  /// `StoreOptions.recoveryProgress`.
  /// - Throws: what opening a store for reading throws.
  public init(at path: String, progress: (@Sendable (RecoveryProgress) -> Bool)? = nil) throws(StoreError) {
    try self.init(at: path, environment: .system, progress: progress)
  }

  package init(
    at path: String, environment: Environment, progress: (@Sendable (RecoveryProgress) -> Bool)? = nil
  ) throws(StoreError) {
    var options = StoreOptions()
    options.access = .readOnly
    options.recoveryProgress = progress
    var store = try Store.open(at: path, options: options, environment: environment)
    defer { try? store.close() }
    // If the tail differs on a second look, it was a write in progress.
    if !store.recovery.discarded.isEmpty {
      for _ in 0..<Self.attempts {
        let again = try Store.open(at: path, options: options, environment: environment)
        try store.close()
        let before = store.recovery.discarded
        store = again
        if again.recovery.discarded.isEmpty || again.recovery.discarded == before { break }
      }
    }
    let directory = StoreDirectory(path, files: environment.files)
    guard let bytes = try directory.manifestBytes() else {
      throw StoreError(.damaged, "\(path): the manifest is missing")
    }
    let manifest: Manifest
    do throws(Manifest.Problem) {
      manifest = try unsafe bytes.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
    } catch {
      throw StoreError(.damaged, "\(path): the manifest is damaged")
    }

    self.path = path
    uuid = Key.uuid(manifest.store.byteSwapped).description
    generation = manifest.generation
    epoch = manifest.epoch
    formatVersion = "\(UInt16(bytes[8]) | UInt16(bytes[9]) << 8).\(UInt16(bytes[10]) | UInt16(bytes[11]) << 8)"
    isBackup = manifest.isBackup
    segmentBytes = manifest.segmentSize
    checkpoints = manifest.checkpoints.map(\.sequence)
    statistics = store.statistics
    recovery = store.recovery
    names = ObjectNames.read(from: store)
    let snapshot = store.snapshot()
    var keyspaces: [Keyspace] = []
    for keyspace in store.keyspaces {
      keyspaces.append(
        Keyspace(
          id: keyspace.id, name: keyspace.name, order: keyspace.order, rows: try keyspace.count(at: snapshot),
          retention: keyspace.retention, definedAt: keyspace.definedAt, liveBytes: keyspace.liveBytes,
          dictionaries: snapshot.dictionaries(of: keyspace).map(\.content.count)))
    }
    self.keyspaces = keyspaces
    var segments: [Segment] = []
    for entry in manifest.segments {
      if let segment = try Segment(entry, directory) { segments.append(segment) }
    }
    self.segments = segments
  }
}

extension StoreInfo.Segment {
  /// Nil if the file has been removed since the manifest was read.
  fileprivate init?(_ entry: Manifest.Segment, _ directory: StoreDirectory) throws(StoreError) {
    guard let file = try directory.segment(entry) else { return nil }
    let (mapping, fileBytes) = try file.contents()
    id = entry.id
    self.fileBytes = fileBytes
    guard case .header(let header) = unsafe SegmentHeader.read(mapping.bytes) else {
      (state, epoch, end, frames, records) = (.unused, 0, 0, 0, 0)
      return
    }
    let isCompacted = header.kind == .compacted
    var (offset, frames, records, sequence) = (SegmentHeader.size, 0, 0, isCompacted ? 0 : header.baseSequence)
    let limit = min(entry.end ?? mapping.length, mapping.length)
    while offset < limit {
      // In a sealed segment, a frame counts whether it is whole or not; in others, the last one may still be being
      // written.
      let frame =
        entry.end != nil
        ? unsafe FrameHeader(mapping.base + offset, available: limit - offset)
        : unsafe FrameView(
          mapping.base + offset, available: limit - offset, offset: offset, seed: header.seed,
          baseSequence: header.baseSequence)?.header
      guard let frame, frame.sequence == sequence.next else { break }
      sequence = frame.sequence
      frames += 1
      records += frame.recordCount
      offset += frame.length
    }
    state = isCompacted ? .compacted : entry.end == nil ? .open : .sealed
    epoch = header.epoch
    end = offset
    self.frames = frames
    self.records = records
  }
}
