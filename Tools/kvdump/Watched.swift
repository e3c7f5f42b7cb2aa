import Cairn
import CairnInspection
import Synchronization

/// Shows the progress of long operations on a terminal, and lets Control-C end them.
enum Watched {
  private static let isShown = Atomic<Bool>(false)
  private static let shownAt = Atomic<UInt64>(0)
  /// A log of fewer bytes is read so fast that it needs no progress.
  private static let longRead = 256 << 20

  /// Opens a store for inspection.
  static func store(_ path: String) throws -> Store {
    try opening { try Store.openForInspection(at: path, progress: $0) }
  }

  /// The names of the Core Data objects in a store; nil if there are none, and if the store does not open or its schema
  /// cannot be read.
  static func names(_ path: String) -> ObjectNames? {
    guard let store = try? store(path) else { return nil }
    defer { try? store.close() }
    return ObjectNames.read(from: store)
  }

  /// Opens an existing store for changes, and closes it again. The store does no background work meanwhile.
  /// - Throws: `locked` if another process has it open for writing.
  static func changing<R>(
    _ path: String, upTo sequence: CommitSequence? = nil, _ body: (Store) throws -> R
  ) throws -> R {
    let store = try opening { progress in
      var options = StoreOptions()
      options.createsIfMissing = false
      options.compacts = false
      options.trainsDictionaries = false
      options.upTo = sequence
      options.recoveryProgress = progress
      return try Store.open(at: path, options: options)
    }
    let result = Result { try body(store) }
    try store.close()
    return try result.get()
  }

  /// Runs `body` with a closure to pass to the function that opens a store.
  static func opening<R>(_ body: (@escaping @Sendable (RecoveryProgress) -> Bool) throws -> R) throws -> R {
    try run {
      try body { progress in
        progress.totalBytes < longRead || show("reading the log", progress.bytes, progress.totalBytes)
      }
    }
  }

  /// Runs `body` with a closure to call with the amount done so far and the total amount.
  static func working<R>(_ title: String, _ body: (@escaping InspectionProgress) throws -> R) throws -> R {
    try working { show in try body { show(title, $0, $1) } }
  }

  /// Runs `body` with a closure to call with a title, the amount done so far and the total amount.
  static func working<R>(_ body: (@escaping (String, Int, Int) -> Bool) throws -> R) throws -> R {
    try run { try body(show) }
  }

  /// Clears the progress line for output that is printed while the work is still watched.
  static func hideProgress() {
    if isShown.exchange(false, ordering: .relaxed) { Terminal.tell("\r\u{1B}[K") }
  }

  private static func run<R>(_ body: () throws -> R) throws -> R {
    Interruption.watch()
    defer {
      hideProgress()
      Interruption.endIfRequested()
      Interruption.unwatch()
    }
    return try body()
  }

  /// Shows the progress at most ten times a second. Returns false if the operation should end.
  private static func show(_ title: String, _ done: Int, _ total: Int) -> Bool {
    if Terminal.showsProgress {
      let now = systemClock()
      if now &- shownAt.load(ordering: .relaxed) >= 100_000_000 {
        shownAt.store(now, ordering: .relaxed)
        let percentage = total > 0 ? ": \(min(99, done * 100 / total)) %" : ", \(done.grouped)"
        Terminal.tell("\r\u{1B}[K\(title)\(percentage)")
        isShown.store(true, ordering: .relaxed)
      }
    }
    return !Interruption.isRequested
  }
}
