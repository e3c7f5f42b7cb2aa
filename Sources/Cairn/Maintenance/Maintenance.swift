import Synchronization

/// Checkpoints and compaction, beside reading and writing: in the background as the log grows, and on request. Only one
/// of them runs at a time, so that a checkpoint refers to records that are not being moved. Before either, the parts of
/// the index that are in small pages are moved to large ones.
final class Maintenance: Sendable {
  private let index: Index
  private let log: Log
  private let committer: Committer
  private let writesCheckpoints: Bool
  private let compacts: Bool
  private let compresses: Bool
  /// The value of `changedBytes` from which on work may be due. A value stored during a check is for the next
  /// look.
  private let nextLook: Atomic<Int>
  private let isAtWork = Atomic<Bool>(false)
  private let isReadOnly: Bool
  /// The length of segments that compaction writes, unless the disk is small.
  private let segmentSize: Int
  let pace: WritePace
  private let state: Lock<State>

  private struct State {
    var policy: CompactionPolicy
    var work = Work.idle
    /// Commit of the newest checkpoint.
    var sequence: CommitSequence
    /// Bytes of the log up to the newest checkpoint, counted like `Log.writtenBytes`; negative for bytes written before
    /// the store was opened.
    var covered: Int
    /// Bytes of the log that no byte of a checkpoint has been written for yet, without those written since the store
    /// was opened.
    var credit: Int
    /// No compaction begins in the background until this many bytes have been appended, because the last one failed;
    /// `.max` while compaction is paused.
    var compactsFrom = 0
    /// Segments that have been compacted and may still be being read.
    var retired: [Retired] = []

    var job: CompactionJob? { if case .compacting(let job) = work { job } else { nil } }
    var isClosed: Bool { if case .closed = work { true } else { false } }
    var isPaused: Bool { compactsFrom == .max }
  }

  /// What is being done, a piece at a time.
  private enum Work {
    case idle
    /// A piece is done in the background, and it is not known yet whether another is due.
    case checking
    /// `needed` is the bytes of the log that are needed, without those that only the capture needs.
    case capturing(CheckpointCapture, needed: Int)
    case compacting(CompactionJob)
    /// Nothing any more.
    case closed
  }

  /// Bytes of segments that have been compacted and may still be being read.
  let retiredBytes = Atomic<Int>(0)

  private struct Retired {
    var segments: [Segment]
    var era: UInt64
  }

  /// A shorter tail of the log is replayed quickly enough to need no checkpoint.
  private static let shortTail = 2 << 20

  init(index: Index, log: Log, committer: Committer, recovery: RecoveryReport, options: StoreOptions) {
    self.index = index
    self.log = log
    self.committer = committer
    writesCheckpoints = options.checkpoints && options.access == .readWrite
    compacts = options.compaction && options.access == .readWrite
    compresses = options.compression
    isReadOnly = options.access == .readOnly
    segmentSize = options.compactionSize ?? log.segmentSize
    pace = WritePace(log: log, segmentSize: segmentSize)
    state = Lock(
      State(
        policy: CompactionPolicy(segmentSize: segmentSize),
        sequence: recovery.checkpoint ?? 0, covered: -recovery.replayedBytes, credit: recovery.replayedBytes))
    nextLook = Atomic(1)
    if index.arena.hasSmallPages { check() }
  }

  // MARK: In the background

  /// Bytes that commits have added to the log since the store was opened, plus bytes that snapshots needed until they
  /// ended.
  private var changedBytes: Int {
    log.appendedBytes.load(ordering: .relaxed) + committer.counts.releasedBytes.load(ordering: .relaxed)
  }

  private var isLookDue: Bool { changedBytes >= nextLook.load(ordering: .sequentiallyConsistent) }

  /// Called after a commit, or after the end of a snapshot.
  @inline(__always)
  func checkIfDue() {
    if isLookDue || log.isShortOfSpace.load(ordering: .relaxed) { start() }
  }

  /// Looks for due work in the background; once more if a look is in progress.
  func check() {
    nextLook.store(0, ordering: .sequentiallyConsistent)
    start()
  }

  private func start() {
    guard !isReadOnly, !isAtWork.exchange(true, ordering: .sequentiallyConsistent) else { return }
    log.environment.scheduler.schedule { [self] in advance() }
  }

  /// Does one piece of the work, so that other work has its turn.
  private func advance() {
    nextLook.store(.max, ordering: .sequentiallyConsistent)
    let (appended, changed) = (log.appendedBytes.load(ordering: .relaxed), changedBytes)
    guard change(doNext) else {
      _ = nextLook.compareExchange(
        expected: .max, desired: appended > 0 ? changed + log.segmentSize / 64 : changed + 1,
        ordering: .sequentiallyConsistent)
      isAtWork.store(false, ordering: .sequentiallyConsistent)
      if isLookDue { start() }
      return
    }
    log.environment.scheduler.schedule { [self] in advance() }
  }

  /// Does one piece of the work in the background; false if nothing remains to do.
  private func doNext(_ state: inout State) -> Bool {
    guard !state.isClosed else { return false }
    if case .idle = state.work { state.work = .checking }
    var isGoingOn = false
    do throws(StoreError) {
      try log.checkHealth()
      isGoingOn = try step(&state)
    } catch {
      if let job = state.job, error.code == .noSpace {
        isGoingOn = giveUp(job, &state)
      } else {
        // The next attempt may find the resource that this one lacked.
        state.covered = max(state.covered, log.writtenBytes - checkpointInterval / 2)
        postponeCompaction(&state)
      }
    }
    if !isGoingOn { state.work = .idle }
    return isGoingOn
  }

  private func postponeCompaction(_ state: inout State) {
    state.compactsFrom = max(state.compactsFrom, log.appendedBytes.load(ordering: .relaxed) + log.segmentSize)
  }

  /// Does one piece of the work; false if there is nothing to do.
  private func step(_ state: inout State) throws(StoreError) -> Bool {
    release(&state)
    if index.arena.hasSmallPages {
      index.arena.moveToLargePage { body in committer.betweenCommits { _ in body() } }
      return true
    }
    // The recovered log stays as it is until the first commit.
    guard log.appendedBytes.load(ordering: .relaxed) > 0 else { return false }
    switch state.work {
    case .capturing, .compacting:
      try doPiece(&state)
      return true
    case .idle, .checking: return try begin(&state)
    case .closed: return false
    }
  }

  /// Begins what is due; false if nothing is.
  private func begin(_ state: inout State) throws(StoreError) -> Bool {
    if isCheckpointDue(state) { return try beginCapture(&state) }
    if isCheckpointInTheWay(state) {
      try log.giveUpCheckpoints()
      state.sequence = 0
      return true
    }
    guard log.appendedBytes.load(ordering: .relaxed) >= max(1, state.compactsFrom) else { return false }
    return try beginJob(&state)
  }

  /// Does a piece of the capture or of the compaction. A failure leaves what failed for the caller to end.
  private func doPiece(_ state: inout State) throws(StoreError) {
    defer { setPace(&state) }
    switch state.work {
    case .capturing(let capture, _):
      guard let entry = try capture.step() else { return }
      state.work = rest
      state.sequence = entry.sequence
      state.covered = capture.logCovered
      state.credit -= entry.length
    case .compacting(let job):
      guard try job.step() else { return }
      state.work = rest
      state.policy.largestOutput = .max
      // A checkpoint whose moved records cannot be found any more is no longer listed.
      if log.newestCheckpoint == nil { state.sequence = 0 }
      retire(job.inputs, &state)
    case .idle, .checking, .closed: break
    }
  }

  /// What follows work that has ended.
  private var rest: Work { isAtWork.load(ordering: .relaxed) ? .checking : .idle }

  // MARK: The pace of writers

  /// Changes the state, and sets the pace of writers to what has become of it.
  private func change<R, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    try state.withLock { (state) throws(E) in
      defer { setPace(&state) }
      return try body(&state)
    }
  }

  /// Slows writers down while work is in progress that shortens the log, or that has to precede such work.
  private func setPace(_ state: inout State) {
    let appended = log.appendedBytes.load(ordering: .relaxed)
    let slack = compacts && !state.isPaused ? slack(&state) : nil
    pace.set(slack: slack, behind: appended)
  }

  /// How much may be written before writers have to wait; nil if nothing shortens the log.
  private func slack(_ state: inout State) -> Int? {
    var (logBytes, needed) = usage
    switch state.work {
    case .idle, .closed: return nil
    case .checking, .compacting: break
    case .capturing(let capture, let known):
      needed = min(needed, known)
      state.work = .capturing(capture, needed: needed)
    }
    return state.policy.slack(logBytes: logBytes, needed: needed)
  }

  // MARK: Checkpoints

  /// A checkpoint is as large as the index, so one is due when the log has grown by one and a half times as much: over
  /// a store's life at most one byte of checkpoints is written for each byte of the log, and the remainder pays for a
  /// checkpoint when the store is closed.
  private var checkpointInterval: Int { max(log.segmentSize, estimate * 3 / 2) }

  /// The approximate length of a checkpoint: all hash pages, however empty, and as many leaves as the rows need.
  private var estimate: Int {
    index.allKeyspaces.reduce(8192) { length, keyspace in
      let leaves = keyspace.isOrdered ? 8192 + keyspace.rowCount.load(ordering: .relaxed) * 24 : 0
      return length + keyspace.locator.index.pageBytes + leaves
    }
  }

  private func isCheckpointDue(_ state: State) -> Bool {
    guard writesCheckpoints, !log.isShortOfSpace.load(ordering: .relaxed) else { return false }
    return log.writtenBytes - state.covered >= checkpointInterval
      || isCheckpointInTheWay(state) && state.credit + log.writtenBytes >= estimate
  }

  /// Whether the log is too long because of the newest checkpoint. Without that checkpoint it becomes shorter, and
  /// opening is slower until there is another one.
  private func isCheckpointInTheWay(_ state: State) -> Bool {
    guard compacts, !state.isPaused, log.newestCheckpoint != nil else { return false }
    let (logBytes, needed) = usage
    guard state.policy.isTooLong(logBytes: logBytes, needed: needed) else { return false }
    let tombstones = TombstoneKeepers(log).bytes(keptBy: .checkpoint)
    return state.policy.isTooLong(logBytes: logBytes, needed: needed, becauseOf: tombstones)
  }

  /// Begins a checkpoint of the newest commit; false if there can be none.
  private func beginCapture(_ state: inout State) throws(StoreError) -> Bool {
    let needed = usage.needed
    guard let capture = try CheckpointCapture(index: index, log: log, committer: committer) else { return false }
    state.work = .capturing(capture, needed: needed)
    return true
  }

  private func abandonCapture(_ state: inout State) {
    guard case .capturing(let capture, _) = state.work else { return }
    capture.abandon()
    state.work = rest
  }

  /// Writes a checkpoint of the newest commit, unless there is one already.
  func checkpoint() throws(StoreError) {
    try change { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.closed, "the store is closed") }
      try checkpoint(&state)
    }
  }

  private func checkpoint(_ state: inout State) throws(StoreError) {
    try log.checkHealth()
    try finishJob(&state)
    abandonCapture(&state)
    guard index.published.load(ordering: .acquiring) > state.sequence, try beginCapture(&state) else { return }
    do throws(StoreError) {
      while case .capturing = state.work { try doPiece(&state) }
    } catch {
      state.work = rest
      throw error
    }
  }

  // MARK: Compaction

  /// Bytes of the log, and the bytes of it that are needed.
  private var usage: (logBytes: Int, needed: Int) {
    let segments = log.segments.withLock { $0 }
    return (
      segments.reduce(0) { $0 + $1.end.load(ordering: .relaxed) },
      segments.reduce(0) { $0 + $1.neededBytes + $1.overhead.load(ordering: .relaxed) }
    )
  }

  private func candidates(_ segments: [Segment], _ keepers: TombstoneKeepers) -> [CompactionPolicy.Candidate] {
    let published = index.published.load(ordering: .acquiring)
    return segments.map { segment in
      let bytes = segment.end.load(ordering: .relaxed)
      let isFree = keepers.keeper(of: segment) == nil
      let tombstones = segment.looseTombstoneBytes
      let written =
        segment.isCompacted
        ? segment.purgedSequence : segment.lastSequence.load(ordering: .relaxed)
      return CompactionPolicy.Candidate(
        segment: segment, bytes: bytes,
        needed: min(
          bytes, segment.neededBytes + (isFree ? 0 : tombstones) + segment.overhead.load(ordering: .relaxed)),
        tombstones: isFree ? tombstones : 0, age: published - min(published, written))
    }
  }

  /// The segments to compact, if any are due; `isUrgent` if the log grows faster than it is compacted.
  ///
  /// - Parameters:
  ///   - isShort: whether the disk is full, so that any compaction that frees space is due.
  ///   - thoroughly: whether a small gain is enough.
  private func dueForCompaction(
    _ policy: CompactionPolicy, isShort: Bool, thoroughly: Bool
  ) -> (segments: [Segment], isUrgent: Bool)? {
    let keepers = TombstoneKeepers(log)
    let candidates = candidates(keepers.compactable, keepers)
    let (logBytes, needed) = usage
    let tombstones = keepers.bytes(keptBy: nil)
    guard isShort || policy.isDue(logBytes: logBytes, needed: needed, tombstones: tombstones, candidates) else {
      return nil
    }
    let kept = keepers.bytes(keptBy: .segments)
    let isForTombstones = !isShort && policy.isTooLong(logBytes: logBytes, needed: needed, becauseOf: kept)
    let chosen =
      isForTombstones
      ? policy.fill(self.candidates(keepers.keepingSegments, keepers))
      : policy.choose(candidates, thoroughly: thoroughly)
    return chosen.isEmpty
      ? nil : (chosen.map(\.segment), policy.isUrgent(logBytes: logBytes, needed: needed))
  }

  /// Begins a compaction; false if none is worth it.
  private func beginJob(_ state: inout State, thoroughly: Bool = false) throws(StoreError) -> Bool {
    guard compacts, !state.isPaused else { return false }
    let isShort = log.isShortOfSpace.load(ordering: .relaxed)
    state.policy.segmentSize = min(segmentSize, log.fullLength)
    if let space = log.reserve.spaceForCompaction {
      state.policy.largestOutput = min(state.policy.largestOutput, space)
    }
    guard let inputs = dueForCompaction(state.policy, isShort: isShort, thoroughly: thoroughly) else {
      if !isShort, state.policy.largestOutput < .max {
        state.policy.largestOutput = .max
        postponeCompaction(&state)
      }
      return false
    }
    // A checkpoint would not find the rows again that are moved while it is written.
    abandonCapture(&state)
    let job = try CompactionJob(
      inputs.segments, index: index, log: log, committer: committer,
      effort: compresses && !inputs.isUrgent ? .new : .none)
    state.work = .compacting(job)
    return true
  }

  /// Compacts for a commit that has found no space, until the log is shorter. False if compaction cannot shorten it.
  func makeSpace() -> Bool {
    change { state in
      guard compacts, !state.isClosed, !state.isPaused else { return false }
      log.keepReserve()
      state.policy.largestOutput = .max
      // The space may be in segments that the background work has not sealed yet; last of all in the active one.
      var isActiveSealed = false
      var fruitlessJobs = 0
      while fruitlessJobs < 2 {
        do throws(StoreError) {
          if state.job == nil {
            committer.sealFull()
            if try !beginJob(&state, thoroughly: true) {
              guard !isActiveSealed, isActiveWorthwhile(state.policy) else { return false }
              isActiveSealed = true
              try committer.sealActive()
              log.keepReserve()
              continue
            }
          }
          guard let job = state.job else { return false }
          try doPiece(&state)
          if state.job != nil { continue }
          if job.gainedBytes > 0 { return true }
          fruitlessJobs += 1
        } catch {
          guard let job = state.job else { return false }
          guard error.code == .noSpace, giveUp(job, &state) else {
            state.work = rest
            return false
          }
          // A little less may fit, such as the first segment without the others.
          state.policy.largestOutput += state.policy.largestOutput * 3 / 4
        }
      }
      return false
    }
  }

  /// Whether compacting the active segment would make the log shorter.
  private func isActiveWorthwhile(_ policy: CompactionPolicy) -> Bool {
    guard let active = committer.betweenCommits({ $0.log.active }) else { return false }
    return !policy.choose(candidates([active], TombstoneKeepers(log)), thoroughly: true).isEmpty
  }

  /// Gives up a job that found no space for its output. False if the next one cannot be smaller.
  @discardableResult
  private func giveUp(_ job: CompactionJob, _ state: inout State) -> Bool {
    state.work = rest
    log.keepReserve()
    state.policy.largestOutput = job.neededBytes / 2
    return job.neededBytes > 0
  }

  private func finishJob(_ state: inout State) throws(StoreError) {
    do throws(StoreError) {
      while state.job != nil { try doPiece(&state) }
    } catch {
      if let job = state.job, error.code == .noSpace {
        giveUp(job, &state)
        return
      }
      state.work = rest
      throw error
    }
  }

  /// Compacts the segments that are worth it, or all, one segment's worth at a time.
  func compact(
    _ extent: CompactionExtent, _ progress: ((CompactionProgress) -> Bool)?
  ) throws(StoreError) -> CompactionReport {
    var report = CompactionReport()
    report.bytesBefore = logBytes
    try prepareToCompact(extent)
    let old = Set(log.compactable.map(\.id))
    var copies: Set<SegmentID> = []
    var refusal: StoreError?
    while true {
      let isGoingOn = try change { (state) throws(StoreError) in
        guard !state.isClosed else { throw StoreError(.closed, "the store is closed") }
        do throws(StoreError) {
          return try compactOnce(extent, old, &copies, &state, &report, progress)
        } catch {
          guard let job = state.job, error.code == .noSpace else { throw error }
          refusal = error
          return giveUp(job, &state)
        }
      }
      if !isGoingOn { break }
    }
    change { state in if !state.isClosed { release(&state) } }
    if report.gainedBytes <= 0, let refusal { throw refusal }
    report.bytesAfter = logBytes
    for segment in log.segments.withLock({ $0 }) {
      report.pinnedBytes += segment.pinnedBytes.load(ordering: .relaxed)
      report.pinnedBytes += segment.heldTombstoneBytes.load(ordering: .relaxed)
      report.tombstoneBytes += segment.looseTombstoneBytes
    }
    return report
  }

  private var logBytes: Int { usage.logBytes }

  private func prepareToCompact(_ extent: CompactionExtent) throws(StoreError) {
    try change { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.closed, "the store is closed") }
      try log.checkHealth()
      try finishJob(&state)
      abandonCapture(&state)
      state.policy.largestOutput = .max
      // The state that recovery found has to be written to disk first.
      try committer.betweenCommits { (writer) throws(StoreError) in try writer.log.beginEpochForCompaction() }
      do throws(StoreError) {
        try committer.sealActive()
        // Tombstones newer than the checkpoint have to stay because of it.
        let tombstones = log.segments.withLock { $0 }.reduce(0) { $0 + $1.looseTombstoneBytes }
        if tombstones > usage.needed / 200, log.newestCheckpoint != nil { try checkpoint(&state) }
      } catch {
        // On a full disk the segments that can be compacted still are.
        guard error.code == .noSpace else { throw error }
      }
    }
  }

  /// Compacts once; false if nothing remains to do.
  ///
  /// - Parameters:
  ///   - old: segments that existed at the beginning.
  ///   - copies: segments that this compaction has written, except those that kept tombstones which should have been
  ///     dropped.
  private func compactOnce(
    _ extent: CompactionExtent, _ old: Set<SegmentID>, _ copies: inout Set<SegmentID>, _ state: inout State,
    _ report: inout CompactionReport, _ progress: ((CompactionProgress) -> Bool)?
  ) throws(StoreError) -> Bool {
    try finishJob(&state)
    abandonCapture(&state)
    state.policy.segmentSize = min(segmentSize, log.fullLength)
    let keepers = TombstoneKeepers(log)
    let candidates = candidates(keepers.compactable, keepers)
    var chosen =
      switch extent {
      case .worthwhile:
        state.policy.choose(
          candidates.filter {
            old.contains($0.segment.id) || copies.contains($0.segment.id) && state.policy.isWorthRepeating($0)
          }, thoroughly: true)
      case .everything: state.policy.fill(candidates.filter { old.contains($0.segment.id) })
      }
    let isForTombstones =
      extent == .worthwhile && chosen.isEmpty && keepers.bytes(keptBy: .segments) > logBytes / 200
    if isForTombstones {
      let keeping = keepers.keepingSegments.filter { old.contains($0.id) }
      chosen = state.policy.fill(self.candidates(keeping, keepers))
    }
    guard !chosen.isEmpty else { return false }
    let before = chosen.reduce(0) { $0 + $1.bytes }
    let job = try CompactionJob(
      chosen.map(\.segment), index: index, log: log, committer: committer,
      effort: !compresses ? .none : extent == .everything ? .all : .new)
    state.work = .compacting(job)
    do throws(StoreError) {
      while state.job != nil {
        try doPiece(&state)
        let (done, total) = job.progress
        guard let progress, state.job != nil, !job.isPublished else { continue }
        guard progress(CompactionProgress(bytes: done, totalBytes: total, segments: report.segments)) else {
          job.abandon()
          throw StoreError(.cancelled, "compaction was cancelled")
        }
      }
    } catch {
      if error.code == .noSpace { throw error }
      state.work = rest
      guard job.damaged != nil, let place = error.place else { throw error }
      report.damaged.append(place)
      return true
    }
    let after = job.output?.end.load(ordering: .relaxed) ?? 0
    report.segments += chosen.count
    report.copiedBytes += after
    report.gainedBytes += before - after
    let promised = chosen.reduce(0) { $0 + $1.tombstones }
    if let output = job.output, before - after >= promised / 2 { copies.insert(output.id) }
    return true
  }

  /// Pauses compaction. A job whose copies are in the log already continues to its end.
  func pause() {
    change { state in
      state.compactsFrom = .max
      guard let job = state.job, !job.isPublished else { return }
      job.abandon()
      state.work = rest
    }
  }

  func resume() {
    change { $0.compactsFrom = 0 }
    check()
  }

  // MARK: Retired segments

  /// Readers that began earlier may still use them.
  private func retire(_ segments: [Segment], _ state: inout State) {
    let era = committer.betweenCommits { _ in
      defer { index.eras.advance() }
      return index.eras.now
    }
    state.retired.append(Retired(segments: segments, era: era))
    for segment in segments { retiredBytes.add(segment.end.load(ordering: .relaxed), ordering: .relaxed) }
    release(&state)
  }

  private func release(_ state: inout State) {
    guard !state.retired.isEmpty else { return }
    committer.betweenCommits { writer in
      let oldest = index.eras.oldestPinned()
      while let first = state.retired.first, first.era < oldest {
        for segment in first.segments {
          writer.log.release(segment)
          retiredBytes.subtract(segment.end.load(ordering: .relaxed), ordering: .relaxed)
        }
        state.retired.removeFirst()
      }
    }
    log.keepReserve()
  }

  // MARK: The end

  /// Called after the last commit, with nothing running in the background. Writes a checkpoint if otherwise much would
  /// have to be replayed.
  func close() {
    change { state in
      guard !state.isClosed else { return }
      if let job = state.job {
        if job.isPublished {
          // A checkpoint must not refer to segments that are no longer listed.
          do throws(StoreError) { try finishJob(&state) } catch {}
        } else {
          job.abandon()
          state.work = rest
        }
      }
      let written = log.writtenBytes
      if writesCheckpoints, written > 0, written - state.covered >= Self.shortTail, state.credit + written >= estimate {
        // Without a checkpoint, opening takes longer.
        do throws(StoreError) { try checkpoint(&state) } catch {}
      }
      abandonCapture(&state)
      release(&state)
      state.work = .closed
    }
  }
}
