/// Tells the caller of a backup, or of a restoration, how much has been copied.
struct CopyMeter {
  private let tell: ((BackupProgress) -> Bool)?
  private var progress: BackupProgress

  /// Bytes that are written at once.
  static let pieceLength = 1 << 20

  init(_ tell: ((BackupProgress) -> Bool)?, total: Int) {
    self.tell = tell
    progress = BackupProgress(bytes: 0, totalBytes: total)
  }

  /// - Throws: `cancelled` if the caller wants no more.
  mutating func add(_ bytes: Int) throws(StoreError) {
    progress.bytes += bytes
    guard tell?(progress) ?? true else { throw StoreError(.cancelled, "copying was cancelled") }
  }
}
