#if PostgreSQL
  import CoreData
  import Foundation

  @testable import PostgreSQLIncrementalStore

  /// A store in a namespace of its own that is opened with several models, and is read with SQL.
  struct ModelServer: Sendable {
    let namespace = Namespace()
    private let connection: Connection

    init() throws { connection = try Connection(Server.address, password: nil, namespace: namespace.name) }

    func remove() { namespace.remove() }

    /// Opens the store with a model, migrates it if that is necessary, and closes it again.
    func withContext<R>(
      _ model: NSManagedObjectModel, _ options: [String: Any] = [:], _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let migrating = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ]
      let store = try coordinator.addPersistentStore(
        type: .postgreSQL, at: namespace.url(Server.address), options: options.merging(migrating) { first, _ in first })
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      let result = try context.performAndWait { try body(context) }
      try coordinator.remove(store)
      return result
    }

    func row(_ statement: String) throws -> Answer { try connection.run(statement, Parameters()) }

    /// What the columns have that the rows do not have.
    func differences() throws -> [String] {
      var differences: [String] = []
      try PostgreSQLIncrementalStore.verify(at: namespace.url(Server.address)) { differences.append($0) }
      return differences
    }
  }

  extension NSManagedObjectContext {
    @discardableResult
    func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
      for (key, value) in values { object.setValue(value, forKey: key) }
      return object
    }
  }

  extension NSManagedObjectModel {
    convenience init(entities: [NSEntityDescription]) {
      self.init()
      self.entities = entities
    }
  }

  extension NSEntityDescription {
    convenience init(_ name: String, _ properties: [NSPropertyDescription]) {
      self.init()
      self.name = name
      self.properties = properties
    }
  }

  extension NSPropertyDescription {
    /// An attribute, optional unless it has a default value.
    static func attribute(
      _ name: String, _ type: NSAttributeType, default value: Any? = nil, formerly: String? = nil
    ) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, value == nil)
      attribute.defaultValue = value
      attribute.renamingIdentifier = formerly
      return attribute
    }
  }

  /// Gives two entities a relationship and its inverse.
  func relate(
    _ first: NSEntityDescription, _ name: String, toMany isToMany: Bool, _ second: NSEntityDescription,
    _ inverseName: String, toMany isInverseToMany: Bool, isOrdered: Bool = false
  ) {
    let (one, other) = (NSRelationshipDescription(), NSRelationshipDescription())
    (one.name, one.destinationEntity, one.maxCount) = (name, second, isToMany ? 0 : 1)
    (other.name, other.destinationEntity, other.maxCount) = (inverseName, first, isInverseToMany ? 0 : 1)
    (one.inverseRelationship, other.inverseRelationship) = (other, one)
    other.isOrdered = isOrdered
    for relationship in [one, other] {
      relationship.isOptional = true
      relationship.deleteRule = .nullifyDeleteRule
    }
    first.properties.append(one)
    second.properties.append(other)
  }
#endif
