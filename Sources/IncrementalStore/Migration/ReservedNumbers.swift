import CoreData

/// The numbers of new properties under which a migration writes fields before the schema has them.
///
/// They are reserved in the schema first, so that nothing else takes them if the migration does not end. The metadata
/// of the store say for which model they are, so that the next migration to it goes on with the rows that have them.
enum ReservedNumbers {
  /// The key of the reservation in the metadata.
  static let key = "NSStoreMigrationNumbers"

  /// How the schema changes, with the numbers that are reserved for the model.
  static func evolution(_ head: StoreHead, _ model: NSManagedObjectModel, _ coder: ValueCoder) throws -> SchemaEvolution
  {
    if let known = head.metadata[key] as? [String: Any], known["model"] as? Data == digest(of: model),
      known["migrations"] as? Int == Int(head.stored.migrations), let first = known["first"] as? Int,
      let end = known["end"] as? Int, let number = UInt32(exactly: first), number > 0
    {
      var evolution = try SchemaEvolution(from: head.stored, to: model, coder, numbersFrom: number)
      if evolution.schema.nextNumber <= end {
        evolution.schema.nextNumber = max(evolution.schema.nextNumber, head.stored.nextNumber)
        return evolution
      }
    }
    return try SchemaEvolution(from: head.stored, to: model, coder)
  }

  /// The head of the store with a reservation for an evolution; nil if it has one.
  static func reserving(_ head: StoreHead, _ evolution: SchemaEvolution, for model: NSManagedObjectModel) -> StoreHead?
  {
    guard head.stored.nextNumber < evolution.schema.nextNumber else { return nil }
    var (metadata, schema) = (head.metadata, head.stored)
    metadata[key] = [
      "model": digest(of: model), "migrations": Int(schema.migrations), "first": Int(schema.nextNumber),
      "end": Int(evolution.schema.nextNumber),
    ]
    schema.nextNumber = evolution.schema.nextNumber
    return StoreHead(metadata: metadata, stored: schema)
  }

  private static func digest(of model: NSManagedObjectModel) -> Data {
    model.entityVersionHashesByName.sorted { $0.key < $1.key }
      .reduce(into: Data()) { digest, entity in
        digest.append(contentsOf: entity.key.utf8)
        digest.append(0)
        digest.append(entity.value)
      }
  }
}
