import Synchronization

/// Checkpoints and compaction, beside reading and writing: in the background as the log grows, and on request. Only one
/// of them runs at a time, so that a checkpoint refers to records that are not being moved. Before either, the parts of
/// the index that are in small pages are moved to large ones.
final class Maintenance: Sendable {
  let index: Index
  let log: Log
  let committer: Committer
  let compacts: Bool
  let compresses: Bool
  /// The length of segments that compaction writes, unless the disk is small.
  let segmentSize: Int
  let pace: WritePace
  private let writesCheckpoints: Bool
  let isReadOnly: Bool
  /// The value of `changedBytes` from which on work may be due. A value stored during a check is for the next
  /// look.
  private let nextLook: Atomic<Int>
  private let isAtWork = Atomic<Bool>(false)
  private let state: Lock<State>

  struct State {
    var policy: CompactionPolicy
    var checkpoints: CheckpointSchedule
    var retired: RetiredSegments
    var work = Work.idle
    /// No compaction begins in the background until this many bytes have been appended, because the last one failed;
    /// `.max` while compaction is paused.
    var compactsFrom = 0

    var job: CompactionJob? { if case .compacting(let job) = work { job } else { nil } }
    var isClosed: Bool { if case .closed = work { true } else { false } }
    var isPaused: Bool { compactsFrom == .max }
  }

  /// What is being done, a piece at a time.
  enum Work {
    case idle
    /// A piece is done in the background, and it is not known yet whether another is due.
    case checking
    /// `needed` is the bytes of the log that are needed, without those that only the capture needs.
    case capturing(CheckpointCapture, needed: Int)
    case compacting(CompactionJob)
    /// Nothing any more.
    case closed
  }

  init(index: Index, log: Log, committer: Committer, recovery: RecoveryReport, options: StoreOptions) {
    self.index = index
    self.log = log
    self.committer = committer
    writesCheckpoints = options.writesCheckpoints && options.access == .readWrite
    compacts = options.compacts && options.access == .readWrite
    compresses = options.compresses
    isReadOnly = options.access == .readOnly
    segmentSize = options.compactionSize ?? log.segmentSize
    pace = WritePace(log: log, segmentSize: segmentSize)
    state = Lock(
      State(
        policy: CompactionPolicy(segmentSize: segmentSize),
        checkpoints: CheckpointSchedule(index: index, log: log, recovery: recovery),
        retired: RetiredSegments(index: index, log: log, committer: committer)))
    nextLook = Atomic(1)
    if index.arena.hasSmallPages { check() }
  }

  // MARK: In the background

  /// Bytes that commits have added to the log since the store was opened, plus bytes that snapshots needed until they
  /// ended.
  private var changedBytes: Int { appendedBytes + committer.counts.releasedBytes.load(ordering: .relaxed) }

  private var appendedBytes: Int { log.counts.appendedBytes.load(ordering: .relaxed) }

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
    let (appended, changed) = (appendedBytes, changedBytes)
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
      try log.failure.check()
      isGoingOn = try step(&state)
    } catch {
      if let job = state.job, error.code == .noSpace {
        isGoingOn = giveUp(job, &state)
      } else {
        // The next attempt may find the resource that this one lacked.
        state.checkpoints.postpone()
        postponeCompaction(&state)
      }
    }
    if !isGoingOn { state.work = .idle }
    return isGoingOn
  }

  /// Does one piece of the work; false if there is nothing to do.
  private func step(_ state: inout State) throws(StoreError) -> Bool {
    state.retired.reclaim()
    if index.arena.hasSmallPages {
      index.arena.moveToLargePage { body in committer.betweenCommits { _ in body() } }
      return true
    }
    // The recovered log stays as it is until the first commit.
    guard appendedBytes > 0 else { return false }
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
      try log.manifest.giveUpCheckpoints()
      state.checkpoints.noteNone()
      return true
    }
    guard appendedBytes >= max(1, state.compactsFrom) else { return false }
    return try beginJob(&state)
  }

  /// Does a piece of the capture or of the compaction. A failure leaves what failed for the caller to end.
  func doPiece(_ state: inout State) throws(StoreError) {
    defer { setPace(&state) }
    switch state.work {
    case .capturing(let capture, _):
      guard let entry = try capture.step() else { return }
      state.work = rest
      state.checkpoints.note(entry, covering: capture.logCovered)
    case .compacting(let job):
      let start = log.telemetry.begin()
      defer { log.telemetry.end(.compactionPiece, since: start) }
      guard try job.step() else { return }
      state.work = rest
      state.policy.largestOutput = .max
      // A checkpoint whose moved records cannot be found any more is no longer listed.
      if log.manifest.newestCheckpoint == nil { state.checkpoints.noteNone() }
      state.retired.retire(job.inputs)
    case .idle, .checking, .closed: break
    }
  }

  /// What follows work that has ended.
  var rest: Work { isAtWork.load(ordering: .relaxed) ? .checking : .idle }

  // MARK: The pace of writers

  /// Changes the state, and sets the pace of writers to what has become of it.
  func change<R, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    try state.withLock { (state) throws(E) in
      defer { setPace(&state) }
      return try body(&state)
    }
  }

  /// Changes the state, unless the store is closed.
  func changeIfOpen<R>(_ body: (inout State) throws(StoreError) -> R) throws(StoreError) -> R {
    try change { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.closed, "the store is closed") }
      return try body(&state)
    }
  }

  /// Slows writers down while work is in progress that shortens the log, or that has to precede such work.
  private func setPace(_ state: inout State) {
    let appended = appendedBytes
    let slack = compacts && !state.isPaused ? slack(&state) : nil
    pace.set(slack: slack, after: appended)
  }

  /// How much may be written before writers have to wait; nil if nothing shortens the log.
  private func slack(_ state: inout State) -> Int? {
    var usage = LogUsage(log)
    switch state.work {
    case .idle, .closed: return nil
    case .checking, .compacting: break
    case .capturing(let capture, let known):
      usage.needed = min(usage.needed, known)
      state.work = .capturing(capture, needed: usage.needed)
    }
    return state.policy.slack(usage)
  }

  // MARK: Checkpoints

  private func isCheckpointDue(_ state: State) -> Bool {
    guard writesCheckpoints, !log.isShortOfSpace.load(ordering: .relaxed) else { return false }
    return state.checkpoints.isDue || isCheckpointInTheWay(state) && state.checkpoints.isAffordable
  }

  /// Whether the log is too long because of the newest checkpoint. Without that checkpoint it becomes shorter, and
  /// opening is slower until there is another one.
  private func isCheckpointInTheWay(_ state: State) -> Bool {
    guard compacts, !state.isPaused, log.manifest.newestCheckpoint != nil else { return false }
    let usage = LogUsage(log)
    return state.policy.isTooLong(usage)
      && state.policy.isTooLong(usage, becauseOf: TombstoneKeepers(log).bytes(keptBy: .checkpoint))
  }

  /// Begins a checkpoint of the newest commit; false if there can be none.
  private func beginCapture(_ state: inout State) throws(StoreError) -> Bool {
    let needed = LogUsage(log).needed
    guard let capture = try CheckpointCapture(index: index, log: log, committer: committer) else { return false }
    state.work = .capturing(capture, needed: needed)
    return true
  }

  func abandonCapture(_ state: inout State) {
    guard case .capturing(let capture, _) = state.work else { return }
    capture.abandon()
    state.work = rest
  }

  /// Writes a checkpoint of the newest commit, unless there is one already.
  func checkpoint() throws(StoreError) {
    try changeIfOpen { (state) throws(StoreError) in try checkpoint(&state) }
  }

  func checkpoint(_ state: inout State) throws(StoreError) {
    try log.failure.check()
    try finishJob(&state)
    abandonCapture(&state)
    guard state.checkpoints.isOutdated, try beginCapture(&state) else { return }
    do throws(StoreError) {
      while case .capturing = state.work { try doPiece(&state) }
    } catch {
      state.work = rest
      throw error
    }
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
      if writesCheckpoints, state.checkpoints.isDueAtTheEnd {
        // Without a checkpoint, opening takes longer.
        do throws(StoreError) { try checkpoint(&state) } catch {}
      }
      abandonCapture(&state)
      state.retired.reclaim()
      state.work = .closed
    }
  }
}
