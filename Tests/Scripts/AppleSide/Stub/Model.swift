// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation

open class NSManagedObjectModel: NSObject {
  public override init() { fatalError() }
  public convenience init?(contentsOf url: URL) { fatalError() }
  open var entitiesByName: [String: NSEntityDescription] { fatalError() }
  open var entities: [NSEntityDescription] {
    get { fatalError() }
    set { fatalError() }
  }
  open var configurations: [String] { fatalError() }
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? { fatalError() }
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) { fatalError() }
  open var versionIdentifiers: Set<AnyHashable> {
    get { fatalError() }
    set { fatalError() }
  }
  open func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool { fatalError() }
  open var entityVersionHashesByName: [String: Data] { fatalError() }
  open var versionChecksum: String { fatalError() }
}

open class NSFetchIndexDescription: NSObject {
  open var elements: [NSFetchIndexElementDescription] {
    get { fatalError() }
    set { fatalError() }
  }
  open var partialIndexPredicate: NSPredicate? {
    get { fatalError() }
    set { fatalError() }
  }
}

public enum NSFetchIndexElementType: UInt {
  case binary = 0
  case rTree = 1
}

open class NSFetchIndexElementDescription: NSObject {
  open var property: NSPropertyDescription? { fatalError() }
  open var collationType: NSFetchIndexElementType {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSEntityDescription: NSObject {
  open class func entity(
    forEntityName entityName: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? { fatalError() }
  open class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject { fatalError() }
  public final unowned(unsafe) let managedObjectModel: NSManagedObjectModel = { fatalError() }()
  open var managedObjectClassName: String! {
    get { fatalError() }
    set { fatalError() }
  }
  open var name: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var isAbstract: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var indexes: [NSFetchIndexDescription] {
    get { fatalError() }
    set { fatalError() }
  }
  open var subentitiesByName: [String: NSEntityDescription] { fatalError() }
  open var subentities: [NSEntityDescription] {
    get { fatalError() }
    set { fatalError() }
  }
  public final unowned(unsafe) let superentity: NSEntityDescription? = { fatalError() }()
  open var propertiesByName: [String: NSPropertyDescription] { fatalError() }
  open var properties: [NSPropertyDescription] {
    get { fatalError() }
    set { fatalError() }
  }
  open var userInfo: [AnyHashable: Any]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var attributesByName: [String: NSAttributeDescription] { fatalError() }
  open var relationshipsByName: [String: NSRelationshipDescription] { fatalError() }
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] { fatalError() }
  open func isKindOf(entity: NSEntityDescription) -> Bool { fatalError() }
  open var versionHash: Data { fatalError() }
  open var versionHashModifier: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var renamingIdentifier: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var uniquenessConstraints: [[Any]] {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSPropertyDescription: NSObject {
  public final unowned(unsafe) let entity: NSEntityDescription = { fatalError() }()
  open var name: String {
    get { fatalError() }
    set { fatalError() }
  }
  open var isOptional: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var isTransient: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var userInfo: [AnyHashable: Any]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var versionHash: Data { fatalError() }
  open var versionHashModifier: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var renamingIdentifier: String? {
    get { fatalError() }
    set { fatalError() }
  }
}

public enum NSAttributeType: UInt, Sendable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  case objectIDAttributeType = 2000
  case compositeAttributeType = 2100
}

open class NSAttributeDescription: NSPropertyDescription {
  open var attributeType: NSAttributeType {
    get { fatalError() }
    set { fatalError() }
  }
  open var preservesValueInHistoryOnDeletion: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var attributeValueClassName: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var defaultValue: Any? {
    get { fatalError() }
    set { fatalError() }
  }
  open var valueTransformerName: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var allowsExternalBinaryDataStorage: Bool {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSCompositeAttributeDescription: NSAttributeDescription {
  open var elements: [NSAttributeDescription] {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSDerivedAttributeDescription: NSAttributeDescription {
  open var derivationExpression: NSExpression? {
    get { fatalError() }
    set { fatalError() }
  }
}

public enum NSDeleteRule: UInt, Sendable {
  case noActionDeleteRule = 0
  case nullifyDeleteRule
  case cascadeDeleteRule
  case denyDeleteRule
}

open class NSRelationshipDescription: NSPropertyDescription {
  public final unowned(unsafe) var destinationEntity: NSEntityDescription?
  public final unowned(unsafe) var inverseRelationship: NSRelationshipDescription?
  open var maxCount: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open var minCount: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open var deleteRule: NSDeleteRule {
    get { fatalError() }
    set { fatalError() }
  }
  open var isToMany: Bool { fatalError() }
  open var isOrdered: Bool {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSExpressionDescription: NSPropertyDescription {
  open var expression: NSExpression? {
    get { fatalError() }
    set { fatalError() }
  }
  open var expressionResultType: NSAttributeType {
    get { fatalError() }
    set { fatalError() }
  }
}

open class NSFetchedPropertyDescription: NSPropertyDescription {}
