import Synchronization

/// A compaction that a caller has requested: of the segments that are worth it, or of all, one segment's worth at a
/// time.
struct RequestedCompaction {
  private let maintenance: Maintenance
  private let log: Log
  private let extent: CompactionExtent
  private let progress: ((CompactionProgress) -> Bool)?
  private var report = CompactionReport()
  /// Segments that existed at the beginning.
  private var old: Set<SegmentID> = []
  /// Segments that this compaction has written, except those that kept tombstones which should have been dropped.
  private var copies: Set<SegmentID> = []
  /// Why a job found no space.
  private var refusal: StoreError?

  init(_ maintenance: Maintenance, _ extent: CompactionExtent, _ progress: ((CompactionProgress) -> Bool)?) {
    self.maintenance = maintenance
    log = maintenance.log
    self.extent = extent
    self.progress = progress
  }

  consuming func run() throws(StoreError) -> CompactionReport {
    report.bytesBefore = LogUsage(log).bytes
    try prepare()
    old = Set(log.compactable.map(\.id))
    while try compactOnce() {}
    maintenance.change { state in if !state.isClosed { state.retired.reclaim() } }
    if report.gainedBytes <= 0, let refusal { throw refusal }
    report.bytesAfter = LogUsage(log).bytes
    for segment in log.segments.withLock({ $0 }) {
      report.pinnedBytes += segment.pinnedBytes.load(ordering: .relaxed)
      report.pinnedBytes += segment.heldTombstoneBytes.load(ordering: .relaxed)
      report.tombstoneBytes += segment.looseTombstoneBytes
    }
    return report
  }

  private func prepare() throws(StoreError) {
    try maintenance.changeIfOpen { (state) throws(StoreError) in
      try log.failure.check()
      try endWork(&state)
      state.policy.largestOutput = .max
      // The state that recovery found has to be written to disk first.
      try maintenance.committer.betweenCommits { (writer) throws(StoreError) in
        try writer.log.beginEpochForCompaction()
      }
      do throws(StoreError) {
        try maintenance.committer.sealActive()
        // Tombstones newer than the checkpoint have to stay because of it.
        let tombstones = log.segments.withLock { $0 }.reduce(0) { $0 + $1.looseTombstoneBytes }
        if tombstones > LogUsage(log).needed / 200, log.manifest.newestCheckpoint != nil {
          try maintenance.checkpoint(&state)
        }
      } catch {
        // On a full disk the segments that can be compacted still are.
        guard error.code == .noSpace else { throw error }
      }
    }
  }

  /// Ends what the background work has begun.
  private func endWork(_ state: inout Maintenance.State) throws(StoreError) {
    try maintenance.finishJob(&state)
    maintenance.abandonCapture(&state)
  }

  /// Compacts once; false if nothing remains to do.
  private mutating func compactOnce() throws(StoreError) -> Bool {
    try maintenance.changeIfOpen { (state) throws(StoreError) in
      do throws(StoreError) {
        return try compactOnce(&state)
      } catch {
        guard let job = state.job, error.code == .noSpace else { throw error }
        refusal = error
        return maintenance.giveUp(job, &state)
      }
    }
  }

  private mutating func compactOnce(_ state: inout Maintenance.State) throws(StoreError) -> Bool {
    try endWork(&state)
    state.policy.segmentSize = min(maintenance.segmentSize, log.fullLength)
    log.releaseLateReaders()
    let chosen = CompactionChoice(state.policy, log, maintenance.index).requested(extent, of: old, again: copies)
    guard !chosen.isEmpty else { return false }
    let effort: Reencoder.Effort = !maintenance.compresses ? .none : extent == .everything ? .all : .new
    let job = try maintenance.begin(chosen.map(\.segment), effort, &state)
    do throws(StoreError) {
      try finish(job, &state)
    } catch {
      if error.code == .noSpace { throw error }
      state.work = maintenance.rest
      guard job.damaged != nil, let place = error.place else { throw error }
      report.damaged.append(place)
      return true
    }
    note(job, of: chosen)
    return true
  }

  private func finish(_ job: CompactionJob, _ state: inout Maintenance.State) throws(StoreError) {
    while state.job != nil {
      try maintenance.doPiece(&state)
      let (done, total) = job.progress
      guard let progress, state.job != nil, !job.isPublished else { continue }
      guard progress(CompactionProgress(bytes: done, totalBytes: total, segments: report.segments)) else {
        job.abandon()
        throw StoreError(.cancelled, "compaction was cancelled")
      }
    }
  }

  private mutating func note(_ job: CompactionJob, of chosen: [CompactionPolicy.Candidate]) {
    let before = chosen.reduce(0) { $0 + $1.bytes }
    let after = job.output?.end.load(ordering: .relaxed) ?? 0
    report.segments += chosen.count
    report.copiedBytes += after
    report.gainedBytes += before - after
    let promised = chosen.reduce(0) { $0 + $1.tombstones }
    if let output = job.output, before - after >= promised / 2 { copies.insert(output.id) }
  }
}
