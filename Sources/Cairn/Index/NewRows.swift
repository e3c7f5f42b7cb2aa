import Synchronization

/// The rows that have been added since a checkpoint was begun, by hash, so that it can leave them out.
final class NewRows: Sendable {
  private let isRecording = Atomic<Bool>(false)
  private let hashes = Lock<[UInt64]>([])

  /// For the holder of the commit lock.
  func begin() {
    hashes.withLock { $0 = [] }
    isRecording.store(true, ordering: .relaxed)
  }

  func end() {
    isRecording.store(false, ordering: .relaxed)
    hashes.withLock { $0 = [] }
  }

  /// Before the row is in the ordered index. For the holder of the commit lock.
  @inline(__always)
  func note(_ hash: UInt64) {
    if isRecording.load(ordering: .relaxed) { hashes.withLock { $0.append(hash) } }
  }

  /// Those noted since this was last asked.
  func take() -> [UInt64] {
    hashes.withLock { hashes in
      defer { hashes = [] }
      return hashes
    }
  }
}
