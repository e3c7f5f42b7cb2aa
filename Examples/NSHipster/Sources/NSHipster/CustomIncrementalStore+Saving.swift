import CoreData

extension CustomIncrementalStore {
  /// Changes a copy of the table, and adopts it once it is written to the file: a save takes place as a whole or not at
  /// all.
  func save(_ request: NSSaveChangesRequest) throws {
    let inserted = request.insertedObjects ?? []
    let updated = request.updatedObjects ?? []
    let deleted = request.deletedObjects ?? []
    say("execute a save: \(inserted.count) inserted, \(updated.count) updated, \(deleted.count) deleted")
    var table = table
    table.metadata = metadata
    for object in inserted {
      var row = Row(entityName: object.entity.name!)
      for key in object.entity.propertiesByName.keys { row.values[key] = value(key, of: object) }
      table.rows[number(object.objectID)] = row
    }
    for object in updated {
      var row = try row(object.objectID)
      for key in object.changedValues().keys { row.values[key] = value(key, of: object) }
      row.version += 1
      table.rows[number(object.objectID)] = row
    }
    for object in request.lockedObjects ?? [] { table.rows[number(object.objectID)]?.version += 1 }
    for object in deleted { table.rows[number(object.objectID)] = nil }
    try table.write(to: url!)
    self.table = table
  }

  /// The value of a property in a row: numbers of rows in place of objects.
  private func value(_ key: String, of object: NSManagedObject) -> Any? {
    guard let relationship = object.entity.relationshipsByName[key] else { return object.value(forKey: key) }
    let numbers = object.objectIDs(forRelationshipNamed: key).map(number)
    return relationship.isToMany ? numbers : numbers.first
  }
}
