public import Foundation

/// What a service calls an object: the name of its entity, and an identifier that no other object of the entity, of the
/// entities that inherit from it, and of those that it inherits from, has.
public struct RemoteIdentifier: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The entity of the object, which must not be abstract.
  public var entityName: String
  /// The identifier, of 512 bytes of UTF-8 at most.
  public var value: String

  /// An identifier.
  public init(_ entityName: String, _ value: String) { (self.entityName, self.value) = (entityName, value) }

  /// The entity and the identifier, as in `Bug/17`.
  public var description: String { "\(entityName)/\(value)" }
}

/// A value of an attribute, or an object at the other end of a to-one relationship.
public enum RemoteValue: Hashable, Codable, Sendable {
  /// No value, or no object.
  case null
  /// A Boolean.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number.
  case double(Double)
  /// A decimal number.
  case decimal(Decimal)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// A UUID.
  case uuid(UUID)
  /// A URL.
  case url(URL)
  /// An object.
  case object(RemoteIdentifier)
}

/// An object as a service has it, or a part of it.
public struct RemoteRecord: Hashable, Codable, Sendable {
  /// What the service calls the object.
  public var identifier: RemoteIdentifier
  /// The version of the object at the service, for instance an entity tag; nil if the service has no versions.
  public var tag: String?
  /// Attributes and to-one relationships by name. A property that is not there is not changed; an object that lacks
  /// properties is not loaded in whole, and asked for again when it is needed.
  ///
  /// A value is converted to the type of its attribute, for instance a text to a UUID or a date, or an identifier to an
  /// object. A record with a value that cannot be converted is refused.
  public var values: [String: RemoteValue]
  /// To-many relationships by name.
  public var members: [String: RemoteMembers]

  /// A record.
  public init(
    _ identifier: RemoteIdentifier, tag: String? = nil, values: [String: RemoteValue] = [:],
    members: [String: RemoteMembers] = [:]
  ) {
    (self.identifier, self.tag, self.values, self.members) = (identifier, tag, values, members)
  }
}

/// Members of a to-many relationship.
public struct RemoteMembers: Hashable, Codable, Sendable {
  /// The members; in their order, if the relationship is ordered.
  public var identifiers: [RemoteIdentifier]
  /// Whether there are no others.
  public var isComplete: Bool

  /// All members.
  public static func all(_ identifiers: [RemoteIdentifier]) -> RemoteMembers {
    RemoteMembers(identifiers: identifiers, isComplete: true)
  }

  /// Some members.
  public static func some(_ identifiers: [RemoteIdentifier]) -> RemoteMembers {
    RemoteMembers(identifiers: identifiers, isComplete: false)
  }
}
