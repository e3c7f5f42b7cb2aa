import Synchronization

/// Rebuilds the index from the log, and finds where the log ends.
///
/// The watermark distinguishes a torn tail, which a crash leaves and which ends the log, from corruption, which is
/// refused. FORMAT.md, section 11. Changes nothing on disk.
struct Recovery: ~Copyable {
  let directory: any Directory
  let manifest: Manifest
  /// How far the log was durable, as recorded outside the log; nil if there is no record of this store and epoch.
  let recorded: WatermarkRecord?
  let isReadOnly: Bool
  /// The last commit to be read.
  let lastWanted: CommitSequence
  let progress: (@Sendable (RecoveryProgress) -> Bool)?
  let table: SegmentTable
  let index: Index

  var log = RecoveredLog()
  /// The sequence that the next frame must follow: the last commit, or the base of a segment that begins after a gap.
  var chain: CommitSequence = 0
  var report = RecoveryReport()
  var replay: Replay
  var hasEnded = false
  /// Whether there are commits after the last one to be read.
  var isCut = false
  var checkpoint: CheckpointTables?
  /// What the checkpoint contains about its segments: live bytes by the segments' first extents, ids of dictionaries by
  /// the segments' ids.
  var liveBytes: [Int: Int] = [:]
  var dictionaries: [SegmentID: [DictionaryID]] = [:]
  /// The move lists of segments compacted since the checkpoint, by segment.
  var moves: [SegmentID: MoveList] = [:]
  /// Segments about which the move list says all, so that they need not be read again.
  var moved: Set<SegmentID> = []
  var sources: [Source] = []
  /// The segments found to be part of the log so far, by id.
  var entered: [SegmentID: Segment] = [:]
  /// Keyspaces that have been dropped, and for keyspaces that are not defined so far the place of a record.
  var dropped: Set<KeyspaceID> = []
  var undefined: [KeyspaceID: Place] = [:]
  var read = RecoveryProgress()
  var nextReport = 0

  init(
    directory: any Directory, manifest: Manifest, recorded: WatermarkRecord?, options: StoreOptions,
    table: SegmentTable,
    index: Index, replay: consuming Replay
  ) {
    // For another epoch the manifest is the better source: it has sealed the segments of that epoch.
    self.recorded = recorded?.store == manifest.store && recorded?.epoch == manifest.epoch ? recorded : nil
    self.directory = directory
    self.manifest = manifest
    isReadOnly = options.access == .readOnly
    lastWanted = options.upTo ?? .max
    progress = options.recoveryProgress
    self.table = table
    self.index = index
    self.replay = replay
  }

  /// A tail of this many bytes changes most of a checkpoint's hash pages.
  static let longTail = 4 << 20

  /// A segment that the manifest lists, and the file found for it.
  struct Source: Numbered {
    let entry: Manifest.Segment
    var id: SegmentID { entry.id }
    let file: any File
    let mapping: any Mapping
    let header: SegmentHeader.Reading
  }

  consuming func run() throws(StoreError) -> (RecoveredLog, RecoveryReport) {
    try openSegments()
    try loadCheckpoint()
    for keyspace in manifest.keyspaces where keyspace.definedAt <= lastWanted {
      let image = checkpoint?.keyspaces.element(keyspace.id)
      // A keyspace that the checkpoint should contain and does not was dropped before it.
      if let checkpoint, image == nil, keyspace.definedAt <= checkpoint.sequence { continue }
      replay.enter(
        index.restore(
          keyspace.id, keyspace.name, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt, from: image),
        mayRetain: keyspace.oldVersions > 0 || image?.oldVersions ?? 0 > 0)
    }
    index.reserveKeyspaceIDs(below: manifest.nextKeyspace)
    let known = checkpoint?.place ?? Place(segment: 0, offset: 0)
    for entry in manifest.segments where entry.id >= known.segment {
      read.totalBytes += max(0, (entry.end ?? 0) - (entry.id == known.segment ? known.offset : 0))
    }
    try followMoves()
    for entry in manifest.segments {
      guard let source = sources.element(entry.id) else {
        try miss(entry)
        continue
      }
      try read(source)
    }
    sources = []
    try replay.end()
    if let (id, place) = undefined.filter({ !dropped.contains($0.key) }).min(by: { $0.key < $1.key }) {
      throw StoreError(.damaged, "a record belongs to keyspace \(id), which is not defined", place: place)
    }
    try checkEnd()
    log.segments.sort { $0.id < $1.id }
    table.keepOnly(log.segments.map(\.extents))
    try findLeftovers()

    // The newest commits may have been compacted.
    log.lastSequence = max(log.lastSequence, min(manifest.chainSequence, lastWanted))
    try checkRecordedEnd()
    if isCut, let last = log.last {
      // Bytes after the cut are durable, but no part of this log.
      log.watermark.sequence = min(log.watermark.sequence, log.lastSequence)
      log.watermark.place = min(
        log.watermark.place, Place(segment: last.id, offset: last.end.load(ordering: .relaxed)))
    }
    log.highestSequence = max(log.highestSequence, log.lastSequence, manifest.highestSequence)
    report.segments = log.segments.count
    report.rows = index.allKeyspaces.reduce(0) { $0 + $1.rowCount.load(ordering: .relaxed) }
    report.lastSequence = log.lastSequence
    report.watermark = log.watermark.sequence
    index.applying.store(log.lastSequence, ordering: .relaxed)
    index.published.store(log.lastSequence, ordering: .sequentiallyConsistent)
    return (log, report)
  }
}
