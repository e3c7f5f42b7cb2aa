import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// Connects a store with its service: what is under way between them.
///
/// Its tasks do not retain the store. Once the store is removed or gone they end with an error.
final class RemoteLink: SaveCompanion, @unchecked Sendable {
  struct StoreIsGone: Error, CustomStringConvertible {
    var description: String { "the store has been removed" }
  }

  let service: any RemoteService
  let account: String
  let policy: RemoteConflictPolicy
  /// Whether changes are sent only when the application says so.
  let sendsByHand: Bool
  let threads = ServiceThreads()
  let events = EventSource()
  let lists = Lists()
  let loads = Loads()
  let memberLoads = MemberLoads()
  let order = RequestOrder()
  let sending = SendingState()
  private let activity = Activity()
  private weak var store: RemoteIncrementalStore?
  private weak var coordinator: NSPersistentStoreCoordinator?
  /// References for objects that are not known yet. Guarded by the store lock.
  private var spare: ArraySlice<RowReference> = []

  init(_ service: any RemoteService, account: String, _ policy: RemoteConflictPolicy, sendsByHand: Bool) {
    self.service = service
    self.account = account
    self.policy = policy
    self.sendsByHand = sendsByHand
  }

  deinit { end() }

  func attach(_ store: RemoteIncrementalStore) {
    self.store = store
    coordinator = store.persistentStoreCoordinator
  }

  /// Cancels everything.
  func end() {
    activity.end()
    events.finish()
  }

  static var now: Double { Date().timeIntervalSinceReferenceDate }

  // MARK: The store

  /// Runs a closure with the store while no other thread uses it.
  func withStore<R>(_ body: (RemoteIncrementalStore) throws -> R) throws -> R {
    guard let store, let coordinator else { throw StoreIsGone() }
    return try coordinator.performAndWait {
      guard store.rowStore != nil, store.persistentStoreCoordinator === coordinator else { throw StoreIsGone() }
      return try body(store)
    }
  }

  func read<R>(_ body: (RemoteRows) throws -> R) throws -> R {
    try withStore { store in try body(RemoteRows(snapshot: try store.rows.snapshot(), access: store.access)) }
  }

  /// Writes what a plan changes as one batch, with a transaction of the author `RemoteService` in the history.
  ///
  /// - Parameters:
  ///   - request: The request to which the plan has the answer; nil if it has none.
  ///   - plan: Called again if it needs references for new objects, or if rows have changed meanwhile.
  @discardableResult
  func edit(
    answerTo request: UInt64? = nil, recordsHistory: Bool = true, _ plan: (inout RecordRows) throws -> Void
  ) throws -> [RecordRows.Contradiction] {
    try withStore { store in
      var wanted = 0
      while true {
        if spare.count < wanted { spare += try store.takeReferences(wanted - spare.count) }
        do {
          var made: RecordRows?
          try store.edit(author: RemoteIncrementalStore.transactionAuthor, recordsHistory: recordsHistory) { snapshot in
            var rows = RecordRows(
              RemoteRows(snapshot: snapshot, access: store.access), references: spare,
              now: request.flatMap { order.beginning(of: $0) } ?? Self.now,
              isOld: { [order] identifier in request.map { order.isOld(identifier, $0) } ?? false })
            try plan(&rows)
            made = rows
            return rows.finished()
          }
          spare = made?.unused ?? spare
          order.note(made?.taken ?? [], request)
          return made?.contradictions ?? []
        } catch is RecordRows.NeedsReferences {
          wanted = max(64, 4 * wanted)
        }
      }
    }
  }

  /// Asks the service for something, and calls `body` with the number of the request.
  func asking<R>(_ body: (UInt64) async throws -> R) async throws -> R {
    let request = order.begin()
    defer { order.end(request) }
    return try await body(request)
  }

  // MARK: Work

  /// Begins work that ``waitUntilQuiet()`` waits for.
  ///
  /// - Parameter otherwise: Called if the store is removed already.
  func begin(
    _ work: @escaping @Sendable (RemoteLink) async -> Void, orElse otherwise: @Sendable () -> Void = {}
  ) {
    let hasBegun = activity.begin(on: threads) { [weak self] in
      guard let self else { return }
      await work(self)
    }
    if !hasBegun { otherwise() }
  }

  /// Calls the service. What it throws besides failures counts as a lost answer.
  func ask<Value>(_ call: () async throws -> Value) async throws(RemoteFailure) -> Value {
    do { return try await call() } catch { throw service.failure(error) }
  }

  func waitUntilQuiet() async { await activity.waitUntilQuiet() }

  // MARK: Saves

  func additions(
    to changed: [ChangedRow], _ entries: EntryDifference, _ snapshot: any RowSnapshot
  ) throws -> RowAdditions {
    guard let store else { throw StoreIsGone() }
    var recorder = OutboxRecorder(RemoteRows(snapshot: snapshot, access: store.access), service, account: account)
    return try recorder.additions(to: changed, entries)
  }

  func wereSaved(_ changed: [ChangedRow]) {
    if !sendsByHand { begin { await $0.sendChanges() } }
  }
}

/// What is under way.
private final class Activity: @unchecked Sendable {
  private let lock = NSLock()
  private var tasks: [Int: Task<Void, any Error>] = [:]
  private var next = 0
  private var isOver = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func begin(on threads: ServiceThreads, _ work: @escaping @Sendable () async -> Void) -> Bool {
    lock.withLock {
      guard !isOver else { return false }
      next += 1
      let number = next
      tasks[number] = threads.begin { [weak self] in
        await work()
        self?.end(number)
      }
      return true
    }
  }

  private func end(_ number: Int) {
    let waiting = lock.withLock {
      tasks[number] = nil
      guard tasks.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { self.waiting = [] }
      return self.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func end() {
    let tasks = lock.withLock {
      isOver = true
      return Array(self.tasks.values)
    }
    for task in tasks { task.cancel() }
  }

  func waitUntilQuiet() async {
    await withCheckedContinuation { continuation in
      let isQuiet = lock.withLock {
        if !tasks.isEmpty { waiting.append(continuation) }
        return tasks.isEmpty
      }
      if isQuiet { continuation.resume() }
    }
  }
}

extension RemoteService {
  /// A failure as services report them: any other error counts as a lost answer.
  func failure(_ error: any Error) -> RemoteFailure {
    error as? RemoteFailure ?? .answerLost(error is CancellationError ? "it was cancelled" : "\(error)")
  }
}
