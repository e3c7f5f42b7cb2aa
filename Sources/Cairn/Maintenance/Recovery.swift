import Synchronization

/// Rebuilds the index from the log, and finds where the log ends.
///
/// The watermark tells a torn tail, which a crash leaves and which ends the log, from corruption, which is refused.
/// FORMAT.md, section 11. Changes nothing on disk.
struct Recovery: ~Copyable {
  let directory: any Directory
  let manifest: Manifest
  /// How far the log was durable, as it is recorded outside of it; nil if that says nothing about it.
  let recorded: WatermarkRecord?
  let isReadOnly: Bool
  /// The last commit to be read.
  let lastWanted: UInt64
  let progress: (@Sendable (RecoveryProgress) -> Bool)?
  let table: SegmentTable
  let index: Index

  var log = RecoveredLog()
  /// What the next frame's sequence follows: the last commit, or the base of a segment that begins behind a gap.
  var chain: UInt64 = 0
  var report = RecoveryReport()
  var replay: Replay
  var hasEnded = false
  /// There are commits behind the last one to be read.
  var isCut = false
  var checkpoint: CheckpointTables?
  /// What the checkpoint says of its segments: live bytes by their first slots, dictionaries by their numbers.
  var liveBytes: [Int: Int] = [:]
  var dictionaries: [UInt32: [UInt32]] = [:]
  /// What the checkpoint needs to lead to what has been compacted since, by segment.
  var moves: [UInt32: MoveList] = [:]
  /// Segments of which there is no more to know than that.
  var moved: Set<UInt32> = []
  var sources: [Source] = []
  /// The segments that are part of the log, as far as they are known.
  var entered: [UInt32: Segment] = [:]
  /// Keyspaces that have been dropped, and rows of others that are not defined.
  var dropped: Set<UInt32> = []
  var undefined: [UInt32: Place] = [:]
  var read = RecoveryProgress()
  var nextReport = 0

  init(
    directory: any Directory, manifest: Manifest, recorded: WatermarkRecord?, options: StoreOptions,
    table: SegmentTable,
    index: Index
  ) {
    // What another epoch recorded is known better from the manifest, which has sealed its segments.
    self.recorded = recorded?.store == manifest.store && recorded?.epoch == manifest.epoch ? recorded : nil
    self.directory = directory
    self.manifest = manifest
    isReadOnly = options.access == .readOnly
    lastWanted = options.upTo ?? .max
    progress = options.recoveryProgress
    self.table = table
    self.index = index
    replay = Replay(index: index)
  }

  /// So much of the log reaches most of a checkpoint's hash pages.
  static let longTail = 4 << 20

  /// A segment that the manifest lists, as it is found.
  struct Source: Numbered {
    let entry: Manifest.Segment
    var id: UInt32 { entry.id }
    let file: any File
    let mapping: any Mapping
    let header: SegmentHeader.Reading
  }

  consuming func run() throws(StoreError) -> (RecoveredLog, RecoveryReport) {
    try openSegments()
    try loadCheckpoint()
    for keyspace in manifest.keyspaces where keyspace.definedAt <= lastWanted {
      let image = checkpoint?.keyspaces.element(keyspace.id)
      // One that the checkpoint should have and hasn't was dropped before it.
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
      throw StoreError(.damaged, "a row of keyspace \(id), which is not defined", place: place)
    }
    try checkEnd()
    log.segments.sort { $0.id < $1.id }
    table.keepOnly(log.segments.map(\.slots))
    try lookForLeftovers()

    // The newest commits may have been compacted.
    log.lastSequence = max(log.lastSequence, min(manifest.chainSequence, lastWanted))
    try checkRecordedEnd()
    if isCut, let last = log.last {
      // What is behind the cut is durable and none of this log.
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
