import Synchronization

/// The rows that have been added since a checkpoint was begun, by hash, so that the checkpoint can leave them out.
final class NewRows: Sendable {
  private let isRecording = Atomic<Bool>(false)
  private let hashes = Lock<[RowHash]>([])

  /// For the holder of the commit lock.
  func begin() {
    hashes.withLock { $0 = [] }
    isRecording.store(true, ordering: .relaxed)
  }

  func end() {
    isRecording.store(false, ordering: .relaxed)
    hashes.withLock { $0 = [] }
  }

  /// Notes a row before it is entered into the ordered index. For the holder of the commit lock.
  @inline(__always)
  func note(_ hash: RowHash) {
    if isRecording.load(ordering: .relaxed) { hashes.withLock { $0.append(hash) } }
  }

  /// Returns the hashes noted since the last call.
  func take() -> [RowHash] {
    hashes.withLock { hashes in
      defer { hashes = [] }
      return hashes
    }
  }
}
