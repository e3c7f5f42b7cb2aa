import Foundation

/// Looks again and again whether another process has saved to a store.
///
/// A process that saves writes into memory that it shares with the file, of which the system tells nobody; so a reader
/// has to look. Used on the queue of `RemoteChanges` only, except for `stop`.
final class StoreWatch: @unchecked Sendable {
  /// How long after a save a reader learns of it at the latest, on an idle machine.
  static let interval = DispatchTimeInterval.milliseconds(50)

  private weak let store: (any RefreshableStore)?
  private weak let coordinator: NSPersistentStoreCoordinator?
  private let whenChanged: (NSPersistentStore, NSPersistentStoreCoordinator) -> Void
  private let timer: any DispatchSourceTimer
  /// The state of the store when this last looked.
  private var seen: UInt64?

  /// Begins to look; nil if no other process can save to the store.
  init?(
    _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator,
    whenChanged: @escaping (NSPersistentStore, NSPersistentStoreCoordinator) -> Void
  ) {
    guard let store = store as? any RefreshableStore, let state = try? store.refresh() else { return nil }
    self.store = store
    self.coordinator = coordinator
    self.whenChanged = whenChanged
    seen = state
    timer = DispatchSource.makeTimerSource(queue: RemoteChanges.queue)
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(5))
    timer.setEventHandler { [weak self] in self?.look() }
    timer.resume()
  }

  deinit { timer.cancel() }

  func stop() { timer.cancel() }

  /// Tells of a save since the last look. What a fetch or a request for history has found meanwhile counts, too.
  func look() {
    guard !timer.isCancelled else { return }
    guard let store, let coordinator else { return timer.cancel() }
    // An error is reported by the next fetch.
    let state = coordinator.withStoreLock { try? store.refresh() }
    guard let state, state != seen else { return }
    seen = state
    whenChanged(store, coordinator)
  }
}
