public import Foundation

/// Makes the objects of one mapping. Subclass it to change how.
///
/// ``NSMigrationManager`` makes one policy for each mapping, and calls its methods in the order in which they are listed
/// here; each method of all mappings before the first of the next stage, ``createRelationships(forDestination:in:manager:)``
/// and ``performCustomValidation(forMapping:manager:)``. If a method throws, the migration ends with the error
/// ``NSEntityMigrationPolicyError``, which contains the error as `NSUnderlyingErrorKey`.
///
/// All objects are of the class ``NSManagedObject``, whatever classes their entities name. Between two batches of
/// objects the manager saves the new ones and turns unchanged objects into faults.
///
/// Expressions of the mapping may use the variables `$source` and `$destination`, the two objects, `$manager`,
/// `$entityMapping`, `$propertyMapping`, and `$entityPolicy`, whose functions ``callFunction(_:arguments:)`` has. The
/// manager's functions are listed at ``NSMigrationManager/callFunction(_:arguments:)``.
open class NSEntityMigrationPolicy: NSObject, FunctionTarget {
  /// Called by the manager.
  public required override init() {}

  /// Called before the first object of the mapping is made.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Makes the objects that a source object becomes, sets their attributes, and associates them with the source object.
  ///
  /// Unless overridden, makes one object with the values of ``NSEntityMapping/attributeMappings``; none if the mapping
  /// has no destination entity.
  ///
  /// - Throws: ``NSMigrationError`` if a value does not have the type of its attribute.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    guard let entity = manager.destinationEntity(for: mapping) else { return }
    let object = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
    try MappedValues(mapping, manager, self, sInstance, object).setAttributes()
    manager.associate(sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
  }

  /// Called when all objects of the mapping are made.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of an object that the mapping has made, when the objects of all mappings exist.
  ///
  /// Unless overridden, sets those of ``NSEntityMapping/relationshipMappings``.
  ///
  /// - Throws: ``NSMigrationError`` if a value is no object, or none of the destination.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    try MappedValues(mapping, manager, self, sources.first, dInstance).setRelationships()
  }

  /// Called when all relationships of the mapping are set.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called after the relationships of all mappings are set; throws if the new objects are not as they should be. Each
  /// object is validated by its entity afterwards.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called at the end, when the new objects are valid.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// A function of `$entityPolicy` that an expression calls by its name. Ends the program unless overridden.
  open func callFunction(_ name: String, arguments: [Any?]) -> Any? {
    fatalError("\(type(of: self)) has no function \(name): callFunction(_:arguments:) has to return its value.")
  }
}
