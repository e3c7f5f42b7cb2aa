import Cairn
import CairnInspection
import Synchronization

/// What takes long tells a terminal how far it has come, and Control-C ends it.
enum Watched {
  private static let isShown = Atomic<Bool>(false)
  private static let shownAt = Atomic<UInt64>(0)
  /// What is read at once needs no percentage.
  private static let longRead = 256 << 20

  /// Opens a store for looking.
  static func store(_ path: String) throws -> Store {
    try opening { try Store.openForInspection(at: path, progress: $0) }
  }

  /// Opens a store that is there for changing, and closes it again. The store does nothing of its own accord meanwhile.
  /// - Throws: `locked` if another process has it open for writing.
  static func changing<R>(_ path: String, upTo sequence: UInt64? = nil, _ body: (Store) throws -> R) throws -> R {
    let store = try opening { progress in
      var options = StoreOptions()
      options.createIfMissing = false
      options.compaction = false
      options.dictionaries = false
      options.upTo = sequence
      options.recoveryProgress = progress
      return try Store.open(at: path, options: options)
    }
    let result = Result { try body(store) }
    try store.close()
    return try result.get()
  }

  /// Gives `body` what to hand on to whatever opens a store.
  static func opening<R>(_ body: (@escaping @Sendable (RecoveryProgress) -> Bool) throws -> R) throws -> R {
    try run {
      try body { progress in
        progress.totalBytes < longRead || show("reading the log", progress.bytes, progress.totalBytes)
      }
    }
  }

  /// Gives `body` what to call with how much of how much has been done.
  static func working<R>(_ title: String, _ body: (@escaping InspectionProgress) throws -> R) throws -> R {
    try run { try body { show(title, $0, $1) } }
  }

  /// Clears the line for what is to be printed while work is still watched.
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

  /// Ten times a second at most; false if it is to end.
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
