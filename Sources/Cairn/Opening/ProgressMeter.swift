/// Tells the caller of an opening how much of the log has been read, every few megabytes.
struct ProgressMeter {
  private let tell: (@Sendable (RecoveryProgress) -> Bool)?
  private var progress = RecoveryProgress()
  private var nextReport = 0

  init(_ tell: (@Sendable (RecoveryProgress) -> Bool)?) { self.tell = tell }

  mutating func expect(_ bytes: Int) { progress.totalBytes += bytes }

  /// - Throws: `cancelled` if the caller wants no more.
  mutating func add(_ bytes: Int) throws(StoreError) {
    progress.bytes += bytes
    progress.totalBytes = max(progress.totalBytes, progress.bytes)
    guard let tell, progress.bytes >= nextReport else { return }
    nextReport = progress.bytes + 8 << 20
    guard tell(progress) else { throw StoreError(.cancelled, "opening was cancelled") }
  }
}
