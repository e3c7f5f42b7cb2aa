public import Foundation

/// How a migration makes objects of one destination entity from the objects of one source entity.
///
/// Used by one thread at a time.
open class NSEntityMapping: NSObject {
  /// The name of the mapping, unique in its mapping model.
  open var name: String!

  /// What the mapping does with the objects of the source.
  open var mappingType = NSEntityMappingType.undefinedEntityMappingType

  /// The name of the source entity; nil for a mapping that adds objects.
  open var sourceEntityName: String?

  /// The version hash that the source entity must have; nil for any.
  open var sourceEntityVersionHash: Data?

  /// The name of the destination entity; nil for a mapping that removes objects.
  open var destinationEntityName: String?

  /// The version hash that the destination entity must have; nil for any.
  open var destinationEntityVersionHash: Data?

  /// The values of attributes. If it is nil and the mapping copies objects, all attributes are copied that both entities
  /// have.
  open var attributeMappings: [NSPropertyMapping]?

  /// The values of relationships. If it is nil and the mapping copies objects, all relationships are copied that both
  /// entities have.
  open var relationshipMappings: [NSPropertyMapping]?

  /// The expression for the objects of the source, or for a request that fetches them; nil for all objects of the source
  /// entity, without those of its subentities.
  open var sourceExpression: NSExpression?

  /// The name of the subclass of ``NSEntityMigrationPolicy`` that makes the objects; nil for that class itself. Without
  /// a module, it is looked up as the classes of the entities are.
  open var entityMigrationPolicyClassName: String?

  /// Anything the application wants to note.
  open var userInfo: [AnyHashable: Any]?
}

/// What a mapping does with the objects of its source entity.
public enum NSEntityMappingType: UInt, Sendable {
  /// What its expressions and its policy say.
  case undefinedEntityMappingType = 0
  /// What its policy says.
  case customEntityMappingType = 1
  /// There are none: the entity is new.
  case addEntityMappingType = 2
  /// It makes no objects of them.
  case removeEntityMappingType = 3
  /// It copies them.
  case copyEntityMappingType = 4
  /// It makes objects from them with other properties.
  case transformEntityMappingType = 5
}
