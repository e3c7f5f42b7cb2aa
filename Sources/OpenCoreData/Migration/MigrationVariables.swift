/// The variable of a mapping's expressions that stands for the migration manager.
public let NSMigrationManagerKey = "manager"
/// The variable of a mapping's expressions that stands for the object of the old store.
public let NSMigrationSourceObjectKey = "source"
/// The variable of a mapping's expressions that stands for the object of the new store.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable of a mapping's expressions that stands for the mapping of the entity.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable of a mapping's expressions that stands for the mapping of the property.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable of a mapping's expressions that stands for the policy of the entity.
public let NSMigrationEntityPolicyKey = "entityPolicy"
