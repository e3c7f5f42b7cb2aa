import Synchronization

/// Writes checkpoints: in the background as the log grows, on request, and at the end.
///
/// A checkpoint is as large as the index, so one is due when the log has grown by one and a half times as much: over a
/// store's life no more than one byte of checkpoints is written for each byte of the log, and what is left over pays
/// for one when the store is closed.
final class Checkpoints: Sendable {
  private let index: Index
  private let log: Log
  private let committer: Committer
  private let isAutomatic: Bool
  /// How long the log has to be for the next one in the background: frames since the store was opened, in bytes.
  private let due: Atomic<Int>
  private let state: Lock<State>

  private struct State {
    var capture: CheckpointCapture?
    /// Of the newest checkpoint.
    var sequence: UInt64
    /// Bytes of the log, counted as `Log.appendedBytes` does, up to the newest checkpoint; negative for what was there
    /// before the store was opened.
    var covered: Int
    /// Bytes of the log that no byte of a checkpoint has been written for; those since the store was opened apart.
    var credit: Int
    var isClosed = false
  }

  /// Less of the log than this is replayed at once.
  private static let shortTail = 2 << 20

  init(index: Index, log: Log, committer: Committer, recovery: RecoveryReport, isAutomatic: Bool) {
    self.index = index
    self.log = log
    self.committer = committer
    self.isAutomatic = isAutomatic
    state = Lock(
      State(
        sequence: recovery.checkpoint ?? 0, covered: -recovery.replayedBytes, credit: recovery.replayedBytes))
    due = Atomic(0)
    postpone(-recovery.replayedBytes)
  }

  /// The next one in the background comes when there is enough log behind `covered`.
  private func postpone(_ covered: Int) {
    let next = covered + max(log.segmentSize, estimate * 3 / 2)
    due.store(isAutomatic ? next : .max, ordering: .relaxed)
  }

  /// About the length of a checkpoint.
  private var estimate: Int {
    index.allKeyspaces.reduce(8192) { $0 + 24_576 + $1.rowCount.load(ordering: .relaxed) * ($1.isOrdered ? 38 : 14) }
  }

  /// After a commit.
  @inline(__always)
  func logHasGrown() {
    if log.appendedBytes.load(ordering: .relaxed) >= due.load(ordering: .relaxed) { begin() }
  }

  private func begin() {
    let due = due.exchange(.max, ordering: .relaxed)
    if due != .max { log.environment.scheduler.schedule { [self] in advance() } }
  }

  /// Whether the log has grown enough for an index that has grown too.
  private func isDue(_ state: State) -> Bool {
    postpone(state.covered)
    guard log.appendedBytes.load(ordering: .relaxed) >= due.load(ordering: .relaxed) else { return false }
    due.store(.max, ordering: .relaxed)
    return true
  }

  /// In the background: a piece of the work at a time, so that others have their turn.
  private func advance() {
    let isDone = state.withLock { state in
      if state.isClosed { return true }
      do throws(StoreError) {
        try log.checkHealth()
        if state.capture == nil {
          guard isDue(state) else { return true }
          state.capture = try CheckpointCapture(index: index, log: log, committer: committer)
        }
        return try step(&state)
      } catch {
        // The next one may find space, or whatever this one lacked.
        state.capture = nil
        postpone(log.appendedBytes.load(ordering: .relaxed))
        return true
      }
    }
    if !isDone { log.environment.scheduler.schedule { [self] in advance() } }
  }

  private func step(_ state: inout State) throws(StoreError) -> Bool {
    guard let capture = state.capture else { return true }
    guard let entry = try capture.step() else { return false }
    state.capture = nil
    state.sequence = entry.sequence
    state.covered = capture.covered
    state.credit -= entry.length
    postpone(capture.covered)
    return true
  }

  /// Writes one of the newest commit, unless there is one.
  func write() throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.closed, "the store is closed") }
      try write(&state)
    }
  }

  private func write(_ state: inout State) throws(StoreError) {
    try log.checkHealth()
    state.capture?.abandon()
    state.capture = nil
    guard index.published.load(ordering: .acquiring) > state.sequence else { return }
    state.capture = try CheckpointCapture(index: index, log: log, committer: committer)
    do throws(StoreError) {
      while try !step(&state) {}
    } catch {
      state.capture = nil
      throw error
    }
  }

  /// After the last commit, with nothing going on in the background. Writes one if there is much to replay otherwise.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      let appended = log.appendedBytes.load(ordering: .relaxed)
      if isAutomatic, appended > 0, appended - state.covered >= Self.shortTail, state.credit + appended >= estimate {
        // Without one opening takes longer.
        do throws(StoreError) { try write(&state) } catch {}
      }
      state.capture?.abandon()
      state.capture = nil
      state.isClosed = true
    }
  }
}
