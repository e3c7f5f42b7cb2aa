import Foundation

/// The entities by which fetch requests name transactions and changes.
enum HistoryEntities {
  static var transaction: NSEntityDescription { known.transaction }
  static var change: NSEntityDescription { known.change }

  static func request(_ entity: NSEntityDescription?) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    return request
  }

  /// Never changed once they are made, so any thread may read them.
  private struct Entities: @unchecked Sendable {
    let transaction = entity(
      "Transaction",
      [
        ("author", .stringAttributeType), ("bundleID", .stringAttributeType), ("contextName", .stringAttributeType),
        ("processID", .stringAttributeType), ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
        ("token", .transformableAttributeType), ("transactionNumber", .integer64AttributeType),
      ])
    let change = entity(
      "Change",
      [
        ("changedObjectID", .objectIDAttributeType), ("changeID", .integer64AttributeType),
        ("changeType", .integer64AttributeType),
      ])

    private let model = NSManagedObjectModel()

    init() {
      let relationship = NSRelationshipDescription()
      (relationship.name, relationship.destinationEntity, relationship.maxCount) = ("transaction", transaction, 1)
      change.properties.append(relationship)
      model.entities = [transaction, change]
      model.freeze()
    }
  }

  private static let known = Entities()

  private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    return entity
  }
}
