#if PostgreSQL
  import CoreData
  import IncrementalStore
  import Synchronization

  /// Looks again and again what other processes and coordinators have saved in a store.
  final class ChangePoller: @unchecked Sendable {
    private let queue = DispatchQueue(label: "Changes that others save in PostgreSQL")
    /// After how long a transaction that stays open is reported.
    private static let patience = Duration.seconds(60)

    private weak let store: PostgreSQLIncrementalStore?
    private let rows: PostgreSQLRowStore
    private let timer: any DispatchSourceTimer
    /// Used on the queue only.
    private var cursor: ChangeCursor
    private var hasReported = false

    /// Begins to look. What is saved from now on is found.
    init(_ store: PostgreSQLIncrementalStore, _ rows: PostgreSQLRowStore, every interval: TimeInterval) {
      (self.store, self.rows) = (store, rows)
      cursor = ChangeCursor(of: rows.client)
      timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now() + interval, repeating: interval)
      queue.sync { look() }
      timer.setEventHandler { [weak self] in self?.look() }
      timer.resume()
    }

    deinit { timer.cancel() }

    func stop() { timer.cancel() }

    private func look() {
      guard !timer.isCancelled, let store else { return timer.cancel() }
      // The next request reports an error, and the next look goes on where this one should have begun.
      guard let finding = try? rows.changes(&cursor) else { return }
      switch finding {
      case .everything: store.othersHaveSaved(nil)
      case .changes(let changes):
        if !changes.isEmpty { store.othersHaveSaved(changes) }
      }
      let isLate = cursor.delay.map { $0 > Self.patience } ?? false
      if isLate, !hasReported {
        NotificationCenter.default.post(name: .PostgreSQLChangesAreDelayed, object: store)
      }
      hasReported = isLate
    }
  }
#endif
