/// What an application writes so that a ``RemoteIncrementalStore`` can read and change the objects of a service.
///
/// Only ``query(for:)`` and ``page(of:after:ifNot:)`` are needed for a service that can only be read as lists. All
/// other requirements have defaults that say what the service cannot do.
///
/// The asynchronous methods are called on threads of the store's own, several at once, and cancelled when the store is
/// removed. They report what went wrong as a ``RemoteFailure``; any other error counts as a lost answer.
public protocol RemoteService: Sendable {
  /// The list that answers a fetch; nil if the cache alone answers it. Called on the thread of the fetch; must not
  /// wait.
  func query(for fetch: RemoteFetch) -> RemoteQuery?

  /// A page of a list.
  ///
  /// - Parameters:
  ///   - query: The list, as ``query(for:)`` has named it.
  ///   - cursor: The ``RemotePage/next`` of the page before; nil for the first page.
  ///   - tag: The ``RemotePage/tag`` of the list as the store has it, with the first page only. If it is still the
  ///     present one, the answer is ``RemotePage/unchanged``.
  func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage

  /// Objects by their identifiers, at most 100, with the versions that the store has.
  func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords

  /// A page of the members of a to-many relationship.
  func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage

  /// Sends changes, at most ``changesPerRequest`` of them, that do not depend on each other. Returns an outcome for
  /// each, in their order.
  func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome]

  /// What has changed since a cursor; from nil on, everything, or only a cursor to begin with.
  func changes(since cursor: String?) async throws -> RemoteChanges

  /// The object that an earlier, unanswered attempt to send an insertion has made; nil if there is none. Called only if
  /// ``repeating`` is ``RemoteRepeating/finding``.
  func record(madeBy change: RemoteChange) async throws -> RemoteRecord?

  /// The identifier of a new object; nil if the service chooses it.
  func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String?

  /// What the service offers against making a change twice.
  var repeating: RemoteRepeating { get }

  /// How many changes one request can have.
  var changesPerRequest: Int { get }

  /// How old what the store has of an entity may be, for fetches that do not say so themselves. Nil: as old as the list
  /// itself says (``RemotePage/freshFor``), or as ``RemoteFreshness/standard`` if it does not.
  func freshness(of entityName: String) -> RemoteFreshness?

  /// Whether the service can answer only while the main thread is free, because its methods are isolated to the main
  /// actor. Then waiting for it on the main thread is an error.
  var needsMainThread: Bool { get }
}

extension RemoteService {
  /// Throws ``RemoteFailure/unsupported``.
  public func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords { throw RemoteFailure.unsupported }

  /// Throws ``RemoteFailure/unsupported``.
  public func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage { throw RemoteFailure.unsupported }

  /// Refuses all changes.
  public func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
    changes.map { _ in .refused("the service can only be read") }
  }

  /// Throws ``RemoteFailure/unsupported``.
  public func changes(since cursor: String?) async throws -> RemoteChanges { throw RemoteFailure.unsupported }

  /// Nil.
  public func record(madeBy change: RemoteChange) async throws -> RemoteRecord? { nil }

  /// Nil.
  public func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String? { nil }

  /// ``RemoteRepeating/nothing``.
  public var repeating: RemoteRepeating { .nothing }

  /// 1.
  public var changesPerRequest: Int { 1 }

  /// Nil.
  public func freshness(of entityName: String) -> RemoteFreshness? { nil }

  /// False.
  public var needsMainThread: Bool { false }
}

/// An object that is asked for, and the version that the store has.
public struct RemoteReference: Hashable, Sendable {
  /// What the service calls the object.
  public var identifier: RemoteIdentifier
  /// The version that the store has in whole; nil if it has none.
  public var tag: String?

  /// A reference.
  public init(_ identifier: RemoteIdentifier, tag: String? = nil) { (self.identifier, self.tag) = (identifier, tag) }
}

/// The answer to a request for objects by their identifiers. Objects of which it says nothing stay as they are.
public struct RemoteRecords: Hashable, Codable, Sendable {
  /// The objects as they are now.
  public var found: [RemoteRecord]
  /// Objects that have the versions that the request has named.
  public var unchanged: [RemoteIdentifier]
  /// Objects that do not exist any more.
  public var gone: [RemoteIdentifier]
  /// Other objects that came with the answer.
  public var included: [RemoteRecord]

  /// An answer.
  public init(
    _ found: [RemoteRecord] = [], unchanged: [RemoteIdentifier] = [], gone: [RemoteIdentifier] = [],
    included: [RemoteRecord] = []
  ) {
    (self.found, self.unchanged, self.gone, self.included) = (found, unchanged, gone, included)
  }
}

/// What has changed at a service.
public struct RemoteChanges: Hashable, Codable, Sendable {
  /// Objects that are new or changed, in the order of the changes.
  public var records: [RemoteRecord]
  /// Objects that do not exist any more.
  public var deleted: [RemoteIdentifier]
  /// Where to go on.
  public var cursor: String
  /// Whether there are no more changes at present.
  public var isLast: Bool
  /// Whether the cursor was too old to tell. Everything that the store has counts as expired then.
  public var hasGap: Bool

  /// Changes.
  public init(
    _ records: [RemoteRecord] = [], deleted: [RemoteIdentifier] = [], cursor: String, isLast: Bool = true,
    hasGap: Bool = false
  ) {
    (self.records, self.deleted, self.cursor) = (records, deleted, cursor)
    (self.isLast, self.hasGap) = (isLast, hasGap)
  }
}
