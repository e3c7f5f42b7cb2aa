public import Foundation

/// A change that is sent to a service.
public struct RemoteChange: Hashable, Sendable {
  /// What happened to the object.
  public enum Kind: Hashable, Sendable {
    /// The object is new.
    case insert
    /// Properties of the object were changed.
    case update
    /// The object was deleted.
    case delete
  }

  /// What happened.
  public var kind: Kind
  /// The entity of the object.
  public var entityName: String
  /// What the service calls the object; nil for a new object, unless the service lets clients choose identifiers.
  public var identifier: RemoteIdentifier?
  /// A random key of the change, the same each time that it is sent.
  public var key: UUID
  /// How often the change was sent before.
  public var attempts: Int
  /// The version on which the change is based; nil if it is not known. A service that compares versions answers with a
  /// conflict if it has another one.
  public var tag: String?
  /// The changed attributes and to-one relationships by name; of a new object all. Empty for a deletion.
  public var values: [String: RemoteValue]
  /// The same properties before the change; empty for a new object.
  public var base: [String: RemoteValue]
  /// Members that to-many relationships have gained, by the names of those relationships of which the other end does
  /// not tell it.
  public var added: [String: [RemoteIdentifier]]
  /// Members that to-many relationships have lost.
  public var removed: [String: [RemoteIdentifier]]

  /// A change.
  public init(
    _ kind: Kind, entityName: String, identifier: RemoteIdentifier?, key: UUID, attempts: Int = 0, tag: String? = nil,
    values: [String: RemoteValue] = [:], base: [String: RemoteValue] = [:],
    added: [String: [RemoteIdentifier]] = [:], removed: [String: [RemoteIdentifier]] = [:]
  ) {
    (self.kind, self.entityName, self.identifier, self.key) = (kind, entityName, identifier, key)
    (self.attempts, self.tag, self.values, self.base) = (attempts, tag, values, base)
    (self.added, self.removed) = (added, removed)
  }
}

/// What a service answers to a change.
public enum RemoteOutcome: Hashable, Codable, Sendable {
  /// The service has made the change. The record has the object as it is now, or a part of it: for a new object at
  /// least its identifier. Nil for an update or a deletion of which the service tells nothing; then the object is read
  /// again.
  case accepted(RemoteRecord?)
  /// The object has changed since the version on which the change is based, to this state if it is known.
  case conflict(RemoteRecord?)
  /// The object does not exist any more.
  case gone
  /// The service will never make this change, for the reason given.
  case refused(String)
  /// The service has not made the change; it may be sent again later, at the earliest after this time if there is one.
  case later(Duration?)
  /// Nobody knows whether the service has made this change, for the reason given, although there is an outcome of
  /// others that were sent with it. What follows is the same as after ``RemoteFailure/answerLost(_:)``.
  case lost(String)
}

/// What a service offers so that no change is made twice if an answer is lost.
public enum RemoteRepeating: Hashable, Sendable {
  /// The service makes a change only once for each ``RemoteChange/key``. (It has to know keys for as long as changes
  /// may wait.)
  case keys
  /// New objects have identifiers that the client has chosen, so that inserting one twice is inserting it once; updates
  /// and deletions may be repeated.
  case clientIdentifiers
  /// ``RemoteService/record(madeBy:)`` finds a new object; updates and deletions may be repeated.
  case finding
  /// Nothing. A change whose answer was lost is set aside, and not sent again unless the application says so.
  case nothing
}
