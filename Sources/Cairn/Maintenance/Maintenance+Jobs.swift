import Synchronization

/// How compactions begin, end and are given up.
extension Maintenance {
  /// Begins a compaction; false if none is worth it.
  func beginJob(_ state: inout State, thoroughly: Bool = false) throws(StoreError) -> Bool {
    guard compacts, !state.isPaused else { return false }
    let isShort = log.isShortOfSpace.load(ordering: .relaxed)
    state.policy.segmentSize = min(segmentSize, log.fullLength)
    log.releaseLateReaders()
    if let space = log.reserve.spaceForCompaction {
      state.policy.largestOutput = min(state.policy.largestOutput, space)
    }
    let choice = CompactionChoice(state.policy, log, index)
    let inputs = choice.due(isShort: isShort, thoroughly: thoroughly)
    guard !inputs.isEmpty else {
      if !isShort, state.policy.largestOutput < .max {
        state.policy.largestOutput = .max
        postponeCompaction(&state)
      }
      return false
    }
    try begin(inputs, compresses && !choice.isUrgent ? .new : .none, &state)
    return true
  }

  /// Begins a compaction of these segments.
  @discardableResult
  func begin(
    _ inputs: [Segment], _ effort: Reencoder.Effort, _ state: inout State
  ) throws(StoreError) -> CompactionJob {
    // A checkpoint would not find the rows again that are moved while it is written.
    abandonCapture(&state)
    let job = try CompactionJob(inputs, index: index, log: log, committer: committer, effort: effort)
    state.work = .compacting(job)
    return job
  }

  func finishJob(_ state: inout State) throws(StoreError) {
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

  /// Gives up a job that found no space. False if the next one cannot be smaller: the limit falls each time, since a
  /// job may need more than the figures of its segments say, or have failed before it wrote anything.
  @discardableResult
  func giveUp(_ job: CompactionJob, _ state: inout State) -> Bool {
    state.work = rest
    log.keepReserve()
    state.policy.largestOutput = min(state.policy.largestOutput, job.neededBytes) / 2
    return state.policy.largestOutput > 0
  }

  func postponeCompaction(_ state: inout State) {
    let appended = log.counts.appendedBytes.load(ordering: .relaxed)
    state.compactsFrom = max(state.compactsFrom, appended + log.segmentSize)
  }

  // MARK: Pausing

  /// Pauses compaction. A job whose copies are in the log already continues to its end.
  func pause() {
    change { state in
      state.compactsFrom = .max
      abandonJob(&state)
    }
  }

  /// Calls `body` while no job is deciding what to leave out. A job whose copies are not in the log yet is given up.
  func betweenJobs<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    defer { check() }
    return try changeIfOpen { (state) throws(StoreError) in
      abandonJob(&state)
      return try body()
    }
  }

  private func abandonJob(_ state: inout State) {
    guard let job = state.job, !job.isPublished else { return }
    job.abandon()
    state.work = rest
  }

  func resume() {
    change { $0.compactsFrom = 0 }
    check()
  }
}
