public import Foundation

/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
  /// Nothing: they go on referring to the deleted object.
  case noActionDeleteRule = 0
  /// They no longer refer to the deleted object.
  case nullifyDeleteRule = 1
  /// They are deleted too.
  case cascadeDeleteRule = 2
  /// The object cannot be deleted while it refers to any.
  case denyDeleteRule = 3
}

/// A relationship of an entity: references to objects of the same or another entity.
///
/// A relationship retains neither its destination nor its inverse: the model holds all entities. Set both ends of a
/// pair of inverse relationships.
open class NSRelationshipDescription: NSPropertyDescription {
  /// The entity to whose objects it refers, including objects of subentities. Nil if none was set or its model is gone.
  open weak var destinationEntity: NSEntityDescription? { willSet { willChange() } }

  /// The relationship in the other direction, if there is one.
  open weak var inverseRelationship: NSRelationshipDescription? { willSet { willChange() } }

  /// What happens to the objects at the other end when an object is deleted.
  open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { willChange() } }

  /// The greatest number of objects it may refer to: 1 makes it a to-one relationship, 0 means any number.
  open var maxCount = 0 { willSet { willChange() } }

  /// The least number of objects that a to-many relationship may refer to, unless it is optional and refers to none.
  open var minCount = 0 { willSet { willChange() } }

  /// Whether the objects of a to-many relationship have an order.
  open var isOrdered = false { willSet { willChange() } }

  /// A to-many relationship without name and destination.
  public override init() { super.init() }

  init(copying other: NSRelationshipDescription) {
    destinationEntity = other.destinationEntity
    inverseRelationship = other.inverseRelationship
    deleteRule = other.deleteRule
    maxCount = other.maxCount
    minCount = other.minCount
    isOrdered = other.isOrdered
    super.init(copying: other)
  }

  /// Whether it may refer to more than one object.
  open var isToMany: Bool { maxCount != 1 }

  /// See ``NSPropertyDescription/versionHash``; depends on the names of destination and inverse, on ``minCount``,
  /// ``maxCount`` and ``isOrdered`` too. The delete rule does not matter.
  open override var versionHash: Data { VersionHash.current.relationship(self) }

  /// A relationship with the same destination and inverse that belongs to no entity.
  open override func copy(with zone: NSZone? = nil) -> Any { NSRelationshipDescription(copying: self) }

  override func says(theSameAs other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSRelationshipDescription, super.says(theSameAs: other) else { return false }
    return destinationEntity?.name == other.destinationEntity?.name
      && inverseRelationship?.name == other.inverseRelationship?.name && deleteRule == other.deleteRule
      && maxCount == other.maxCount && minCount == other.minCount && isOrdered == other.isOrdered
  }
}
