#if PostgreSQL
  import CoreData
  import Foundation
  import PostgreSQLIncrementalStore
  import Testing

  /// The server that the script has started.
  enum Server {
    /// The URI of its database, with a query.
    static let address = ProcessInfo.processInfo.environment["CAIRN_POSTGRESQL"] ?? ""

    /// The folder of its socket.
    static var folder: String {
      let query = URLComponents(string: address)?.queryItems ?? []
      return query.first { $0.name == "host" }?.value ?? ""
    }

    /// The address of the server behind another socket.
    static func address(in folder: String) -> String { address.replacing(Self.folder, with: folder) }
  }

  /// A namespace of the server for one test.
  struct Namespace: Sendable {
    let name = "test \(UUID().uuidString)"
    let address: String

    init(_ address: String = Server.address) { self.address = address }

    /// Removes everything at the end of the test.
    func remove() { try? PostgreSQLIncrementalStore.destroyPersistentStore(at: url(Server.address), options: nil) }

    var description: NSPersistentStoreDescription { description(address) }

    func description(_ address: String) -> NSPersistentStoreDescription {
      guard let description = NSPersistentStoreDescription.postgreSQL(address, namespace: name) else {
        fatalError("\(address) is not a URI")
      }
      return description
    }

    func url(_ address: String) -> URL {
      guard let url = description(address).url else { fatalError("a description has no URL") }
      return url
    }

    /// The row store, as another process would open it.
    func rowStore(_ options: [AnyHashable: Any] = [:]) throws -> any RowStore {
      try PostgreSQLIncrementalStore.rowStore(at: url(address), options: options)
    }

    /// A context on a coordinator of its own, as another process would have.
    func context(_ options: [String: Any] = [:]) throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: unsafe Shop.model)
      _ = try coordinator.addPersistentStore(
        type: .postgreSQL, at: url(address), options: options)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
  }

  /// Goods with unique names, in orders, and what may be sold in their place.
  enum Shop {
    nonisolated(unsafe) static let model: NSManagedObjectModel = {
      let (goods, order) = (NSEntityDescription(), NSEntityDescription())
      (goods.name, order.name) = ("Goods", "Order")
      goods.properties = [attribute("name", .stringAttributeType), attribute("count", .integer64AttributeType)]
      goods.uniquenessConstraints = [["name"]]
      order.properties = [attribute("number", .integer64AttributeType)]
      let (contents, orders) = (NSRelationshipDescription(), NSRelationshipDescription())
      (contents.name, contents.destinationEntity, contents.maxCount) = ("contents", goods, 0)
      (orders.name, orders.destinationEntity, orders.maxCount) = ("orders", order, 0)
      (contents.inverseRelationship, orders.inverseRelationship) = (orders, contents)
      for relationship in [contents, orders] { relationship.deleteRule = .nullifyDeleteRule }
      order.properties.append(contents)
      goods.properties.append(orders)
      let (substitute, substituted) = (NSRelationshipDescription(), NSRelationshipDescription())
      (substitute.name, substitute.destinationEntity, substitute.maxCount) = ("substitute", goods, 1)
      (substituted.name, substituted.destinationEntity, substituted.maxCount) = ("substituted", goods, 0)
      (substitute.inverseRelationship, substituted.inverseRelationship) = (substituted, substitute)
      for relationship in [substitute, substituted] {
        (relationship.deleteRule, relationship.isOptional) = (.nullifyDeleteRule, true)
      }
      goods.properties += [substitute, substituted]
      let model = NSManagedObjectModel()
      model.entities = [goods, order]
      return model
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
  }

  extension NSManagedObjectContext {
    @discardableResult
    func add(_ name: String, count: Int64 = 0) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Goods", into: self)
      object.setValue(name, forKey: "name")
      object.setValue(count, forKey: "count")
      return object
    }

    func goods(_ format: String = "TRUEPREDICATE") throws -> [NSManagedObject] {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Goods")
      request.predicate = NSPredicate(format: format)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try fetch(request)
    }

    func names() throws -> [String] { try goods().compactMap { $0.value(forKey: "name") as? String } }
  }

  /// Runs a block and returns the error that it throws.
  func failure(_ body: () throws -> Void) -> NSError? {
    do {
      try body()
      return nil
    } catch { return error as NSError }
  }
#endif
