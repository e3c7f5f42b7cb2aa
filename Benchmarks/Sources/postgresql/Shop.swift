#if PostgreSQL
  import Foundation
  import OpenCoreData
  import PostgreSQLIncrementalStore

  /// Bugs with an index, and accounts with transfers.
  enum Shop {
    nonisolated(unsafe) static let model: NSManagedObjectModel = {
      let (bug, account, transfer) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
      (bug.name, account.name, transfer.name) = ("Bug", "Account", "Transfer")
      bug.properties = [
        attribute("number", .integer64AttributeType), attribute("title", .stringAttributeType),
        attribute("isOpen", .booleanAttributeType),
      ]
      if let number = bug.attributesByName["number"] {
        bug.indexes = [
          NSFetchIndexDescription(
            name: "number", elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
        ]
      }
      account.properties = [attribute("balance", .integer64AttributeType)]
      transfer.properties = [attribute("amount", .integer64AttributeType)]
      for (name, inverse) in [("source", "withdrawals"), ("destination", "deposits")] {
        let (one, many) = (NSRelationshipDescription(), NSRelationshipDescription())
        (one.name, one.destinationEntity, one.maxCount) = (name, account, 1)
        (many.name, many.destinationEntity, many.maxCount) = (inverse, transfer, 0)
        (one.inverseRelationship, many.inverseRelationship) = (many, one)
        for relationship in [one, many] { relationship.deleteRule = .nullifyDeleteRule }
        transfer.properties.append(one)
        account.properties.append(many)
      }
      let model = NSManagedObjectModel()
      model.entities = [bug, account, transfer]
      return model
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }

    static func open(_ address: String, _ namespace: String) throws -> NSManagedObjectContext {
      guard let url = NSPersistentStoreDescription.postgreSQL(address, namespace: namespace)?.url else {
        throw CocoaError(.fileReadUnsupportedScheme)
      }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        type: .postgreSQL, at: url, options: [BuildsIndexesFirstOption: true as NSNumber])
      return context(coordinator)
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      context.mergePolicy = NSMergePolicy.error
      return context
    }
  }
#endif
