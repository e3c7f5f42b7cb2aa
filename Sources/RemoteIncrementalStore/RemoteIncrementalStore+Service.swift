public import CoreData
import Foundation
import IncrementalStore
import RowFormat

/// Any thread may use what this class itself declares. What it inherits is for its coordinator.
extension RemoteIncrementalStore: @unchecked Sendable {}

/// What an application asks of a store and its service. None of these methods waits for the service on a thread.
extension RemoteIncrementalStore {
  // MARK: Reading

  /// Reads the list that answers a fetch now, and returns when it has been read as far as the fetch needs. Does nothing
  /// if no list answers the fetch.
  ///
  /// - Throws: a ``RemoteFailure``, or an error of the store. Pages that came before stay.
  nonisolated public func refresh<Result>(_ request: NSFetchRequest<Result>) async throws {
    guard let name = request.entityName, let (query, needed) = query(for: request.forStore) else { return }
    let needsValues = request.predicate != nil || request.sortDescriptors?.isEmpty == false
    try await link.refresh(query, name, needed, needsValues).value()
  }

  /// Loads objects that are not loaded in whole, in requests for at most 100, and returns when they are loaded.
  ///
  /// - Throws: a ``RemoteFailure``, or an error of the store. Some of the objects may be loaded.
  nonisolated public func load(_ objectIDs: [NSManagedObjectID]) async throws {
    let link = link!
    let objects = try link.withStore { store in
      try objectIDs.filter { store.isPartial($0) }.map { try store.access.reference($0) }
    }
    for answer in link.load(objects) { try await answer.value() }
  }

  /// Whether an object is loaded in whole.
  public func isLoaded(_ objectID: NSManagedObjectID) -> Bool {
    (try? link.withStore { !$0.isPartial(objectID) }) ?? false
  }

  /// Reads what has changed at the service since the last time.
  ///
  /// - Throws: ``RemoteFailure/unsupported`` if the service does not tell; another ``RemoteFailure``, or an error of
  /// the
  ///   store. Changes that came before stay.
  nonisolated public func readChanges() async throws {
    let link = link!
    try await link.run { try await $0.readChanges() }
  }

  /// Takes objects that came by another way than the answers of the service, for instance with the application, or over
  /// a socket. Objects with changes that wait stay as they are.
  ///
  /// - Parameters:
  ///   - records: Objects as the service has them.
  ///   - deleted: Objects that do not exist any more.
  /// - Throws: ``RemoteFailure/invalidAnswer(_:)`` for a value that does not fit its attribute, or an error of the
  /// store.
  ///   Nothing has changed then.
  nonisolated public func take(_ records: [RemoteRecord], deleted: [RemoteIdentifier] = []) async throws {
    let link = link!
    try await link.run { try await $0.take(records, deleted: deleted) }
  }

  /// What is known of the list that answers a fetch.
  public func status<Result>(of request: NSFetchRequest<Result>) throws -> RemoteStatus {
    guard let name = request.entityName, let (query, _) = query(for: request.forStore) else { return RemoteStatus() }
    let state = try link.state(of: query, name)
    return RemoteStatus(
      readAt: state.readAt > 0 ? Date(timeIntervalSinceReferenceDate: state.readAt) : nil,
      isComplete: state.isComplete, isLoading: state.answer != nil, failure: state.failure)
  }

  /// What happens between the store and the service, from now on. A listener that does not take events gets the last
  /// 1,000.
  public var events: AsyncStream<RemoteEvent> { link.events.stream() }

  // MARK: Sending

  /// Sends changes until nothing more can be sent at present. Each change is tried once, also one that would otherwise
  /// wait longer.
  nonisolated public func sendChanges() async {
    let link = link!
    try? await link.run { await $0.sendChanges(byHand: true) }
  }

  /// The changes that have not been accepted, in their order.
  public var unsentChanges: [RemoteUnsentChange] {
    get throws {
      try link.withStore { store in
        let rows = RemoteRows(snapshot: try store.rows.snapshot(), access: store.access)
        return try Outbox(rows).entries.compactMap { entry -> RemoteUnsentChange? in
          let identifier = try rows.identifier(of: entry.change.object)
          return store.access.objectID(entry.change.object).map { RemoteUnsentChange(entry, $0, identifier) }
        }
      }
    }
  }

  /// Sends all changes again that were refused, or whose answers were lost, and goes on after the service has refused
  /// the credentials. A change whose answer was lost may be made twice then.
  public func retry() throws { try retry { _ in true } }

  /// Sends a change again that was refused, or whose answer was lost. In the latter case it may be made twice.
  public func retry(_ change: RemoteUnsentChange) throws { try retry { $0 == change.id } }

  private func retry(_ isChosen: (Int64) -> Bool) throws {
    link.sending.isHeld = false
    try link.edit(recordsHistory: false) { rows in
      for (number, change) in try rows.outbox.changes() where isChosen(Int64(clamping: number)) {
        guard change.state == .refused || change.state == .unknown else { continue }
        var change = change
        change.reopen()
        rows.outbox.put(change, number)
      }
    }
    if !link.sendsByHand { link.begin { await $0.sendChanges() } }
  }

  /// Undoes a change that the service has not accepted, and all later ones of the object. A new object is deleted;
  /// another object becomes as it was before, and is read again.
  ///
  /// - Throws: ``RemoteError/notLoaded`` if the change is being sent.
  public func discard(_ change: RemoteUnsentChange) throws { try link.discard(UInt64(clamping: change.id)) }

  // MARK: The cache

  /// Forgets the values of objects, which become faults again; their identifiers and relationships stay. Objects that
  /// have changes that wait, are pinned, or are used by a context are left as they are.
  ///
  /// - Returns: The objects that were evicted.
  @discardableResult
  public func evict(_ objectIDs: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
    try link.evict(objectIDs)
  }

  /// Forgets the values of the objects that were read longest ago, until at most so many bytes of rows are left of
  /// objects that the service knows, and those of all that were read before a date. As ``evict(_:)``. Also forgets the
  /// lists that were read before the date; their objects stay.
  ///
  /// Takes time in proportion to the number of objects.
  @discardableResult
  public func evict(keepingBytes bytes: Int = .max, readBefore date: Date = .distantPast) throws -> [NSManagedObjectID]
  {
    let date = date.timeIntervalSinceReferenceDate
    try link.forgetLists(readBefore: date)
    return try link.evict(try link.evictable(keepingBytes: bytes, readBefore: date))
  }

  /// Keeps objects from being evicted, or no longer.
  public func setPinned(_ isPinned: Bool, _ objectIDs: [NSManagedObjectID]) throws {
    let link = link!
    let objects = try link.withStore { store in try objectIDs.map { try store.access.reference($0) } }
    try link.edit(recordsHistory: false) { rows in
      for object in objects where try rows.bytes(of: object) != nil {
        var origin = try rows.origin(of: object) ?? OriginRow(entity: object.entity)
        origin.isPinned = isPinned
        rows.set(origin, of: object)
      }
    }
  }

  /// Throws ``RemoteError/unsentChanges`` if there are changes that the service has not accepted: before the store is
  /// removed and its directory destroyed, when the user logs out.
  public func checkMayLogOut() throws {
    let count = try unsentChanges.count
    guard count > 0 else { return }
    throw RemoteError.make("\(count) changes were not sent to the service.", code: RemoteError.unsentChanges)
  }

  /// Returns when nothing is under way between the store and the service.
  nonisolated package func waitUntilQuiet() async { await link.waitUntilQuiet() }
}

/// What is known of the list that answers a fetch.
public struct RemoteStatus: Sendable {
  /// When the list was last read as far as it was needed; nil if it never was.
  public var readAt: Date?
  /// Whether all of the list is known.
  public var isComplete = false
  /// Whether the list is being read.
  public var isLoading = false
  /// Why the list could not be read the last time; nil if it could.
  public var failure: (any Error)?
}

extension RemoteUnsentChange {
  fileprivate init(_ entry: Outbox.Entry, _ objectID: NSManagedObjectID, _ identifier: RemoteIdentifier?) {
    let known = (try? RecordRows.numbers(in: entry.change.values)) ?? []
    let relationships = Set(entry.change.members.map(\.relationship))
    self.init(
      id: Int64(clamping: entry.number), objectID: objectID, identifier: identifier,
      kind: RemoteChange.Kind(entry.change.kind),
      state: State(entry.change), attempts: Int(clamping: entry.change.attempts),
      properties: Set(entry.map.fields.filter { known.contains($0.number) }.map(\.name))
        .union(entry.map.sets.filter { relationships.contains($0.end.number) }.map(\.name)))
  }
}

extension RemoteUnsentChange.State {
  fileprivate init(_ change: OutboxRow) {
    self =
      switch change.state {
      case .waiting: .waiting
      case .sent: .sent
      case .refused: .refused(change.refusal)
      case .unknown: .unknown
      }
  }
}

extension NSFetchRequest {
  fileprivate var forStore: NSFetchRequest<NSManagedObject> {
    if let request = self as? NSFetchRequest<NSManagedObject> { return request }
    let request = NSFetchRequest<NSManagedObject>(entityName: entityName ?? "")
    (request.predicate, request.sortDescriptors) = (predicate, sortDescriptors)
    (request.fetchLimit, request.fetchOffset) = (fetchLimit, fetchOffset)
    request.includesSubentities = includesSubentities
    return request
  }
}
