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
  let table: SegmentTable
  let index: Index

  /// What has been found so far.
  var found = RecoveredLog()
  /// The sequence that the next frame must follow: the last commit, or the base of a segment that begins after a gap.
  var chain: CommitSequence = 0
  var report = RecoveryReport()
  var replay: Replay
  var logEnd = LogEnd.ahead
  var checkpoint: LoadedCheckpoint?
  var sources: [Source] = []
  /// The segments found to be part of the log so far, by id.
  var entered: [SegmentID: Segment] = [:]
  var keyspaces = SeenKeyspaces()
  var meter: ProgressMeter

  /// The end of the log.
  enum LogEnd {
    /// It has not been reached.
    case ahead
    /// After it is a torn tail, or nothing.
    case found
    /// After it are commits that are not to be read.
    case cut
  }

  var isCut: Bool { logEnd == .cut }

  init(
    directory: any Directory, manifest: Manifest, recorded: WatermarkRecord?, options: StoreOptions,
    table: SegmentTable, index: Index, replay: consuming Replay
  ) {
    // For another epoch the manifest is the better source: it has sealed the segments of that epoch.
    self.recorded = recorded?.store == manifest.store && recorded?.epoch == manifest.epoch ? recorded : nil
    self.directory = directory
    self.manifest = manifest
    isReadOnly = options.access == .readOnly
    lastWanted = options.upTo ?? .max
    meter = ProgressMeter(options.recoveryProgress)
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
    /// What readers will see of the file.
    let mapping: any Mapping
    /// What recovery reads: the same, or a copy of it.
    let bytes: any Mapping
    let header: SegmentHeader.Reading
  }

  consuming func run() throws(StoreError) -> (RecoveredLog, RecoveryReport) {
    try openSegments()
    try loadCheckpoint()
    for keyspace in manifest.keyspaces where keyspace.definedAt <= lastWanted {
      let image = checkpoint?.tables.keyspaces.element(keyspace.id)
      // A keyspace that the checkpoint should contain and does not was dropped before it.
      if let checkpoint, image == nil, keyspace.definedAt <= checkpoint.sequence { continue }
      replay.enter(
        index.restore(
          keyspace.id, keyspace.name, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt, from: image),
        mayRetain: keyspace.oldVersions > 0 || image?.oldVersions ?? 0 > 0)
    }
    // The manifest does not list a keyspace that was dropped after the last commit that is wanted.
    if lastWanted < .max, checkpoint == nil { try findMovedDefinitions() }
    index.reserveKeyspaceIDs(below: manifest.nextKeyspace)
    let known = checkpoint?.tables.place ?? Place(segment: 0, offset: 0)
    for entry in manifest.segments where entry.id >= known.segment {
      meter.expect(max(0, (entry.end ?? 0) - (entry.id == known.segment ? known.offset : 0)))
    }
    try followMoves()
    for entry in manifest.segments {
      guard let source = sources.element(entry.id) else {
        try miss(entry)
        continue
      }
      try readSegment(source)
    }
    sources = []
    try replay.end()
    try keyspaces.check()
    try checkEnd()
    found.segments.sort { $0.id < $1.id }
    table.keepOnly(found.segments.map(\.extents))
    try findLeftovers()

    // The newest commits may have been compacted.
    found.lastSequence = max(found.lastSequence, min(manifest.chainSequence, lastWanted))
    try checkRecordedEnd()
    found.isTakenBack = isCut
    if isCut, let last = found.last {
      // Bytes after the cut are durable, but no part of this log.
      found.watermark.sequence = min(found.watermark.sequence, found.lastSequence)
      found.watermark.place = min(
        found.watermark.place, Place(segment: last.id, offset: last.end.load(ordering: .relaxed)))
    }
    found.highestSequence = max(found.highestSequence, found.lastSequence, manifest.highestSequence)
    report.segments = found.segments.count
    report.rows = index.allKeyspaces.reduce(0) { $0 + $1.rowCount.load(ordering: .relaxed) }
    report.lastSequence = found.lastSequence
    report.watermark = found.watermark.sequence
    index.applying.store(found.lastSequence, ordering: .relaxed)
    index.published.store(found.lastSequence, ordering: .sequentiallyConsistent)
    return (found, report)
  }
}
