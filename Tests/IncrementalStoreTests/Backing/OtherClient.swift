import CoreData

/// Reads and changes the rows of a store with managed objects, on the queue of its context.
struct OtherClient {
  let store: BackedStore
  let context: NSManagedObjectContext

  /// The rows with these numbers, as far as they exist.
  func rows(_ numbers: [Int]) throws -> [Int: BackingRow] {
    var rows: [Int: BackingRow] = [:]
    for number in numbers {
      guard let object = try? context.existingObject(with: store.identifier(number)) else { continue }
      rows[number] = try row(object)
    }
    return rows
  }

  func insert(_ rows: [BackingRow]) throws {
    let objects = rows.map { NSEntityDescription.insertNewObject(forEntityName: $0.entityName, into: context) }
    try context.obtainPermanentIDs(for: objects)
    for (object, row) in zip(objects, rows) { set(object, row) }
    try context.save()
  }

  func change(from old: [Int: BackingRow], to new: [Int: BackingRow]) throws {
    for (number, row) in old {
      let object = context.object(with: store.identifier(number))
      guard let wanted = new[number] else {
        context.delete(object)
        continue
      }
      if !isSame(row.attributes, wanted.attributes) || row.toOne != wanted.toOne || row.toMany != wanted.toMany {
        set(object, wanted)
      }
    }
    try context.save()
  }

  private func isSame(_ one: [String: Any], _ other: [String: Any]) -> Bool {
    NSDictionary(dictionary: one).isEqual(to: other)
  }

  private func row(_ object: NSManagedObject) throws -> BackingRow {
    let node = try store.newValuesForObject(with: object.objectID, with: context)
    var row = BackingRow(entityName: object.entity.name!, version: node.version, attributes: [:])
    for name in attributes(of: object) { row.attributes[name] = object[name] }
    for (name, relationship) in object.entity.relationshipsByName {
      let numbers = object.objectIDs(forRelationshipNamed: name).map(store.number)
      if !relationship.isToMany {
        row.toOne[name] = numbers.first
      } else if relationship.isOrdered {
        row.toMany[name] = object.members(name).map { store.number($0.objectID) }
      } else if relationship.inverseRelationship?.isToMany != false {
        row.toMany[name] = numbers.sorted()
      }
    }
    return row
  }

  private func set(_ object: NSManagedObject, _ row: BackingRow) {
    for name in attributes(of: object) { object[name] = row.attributes[name] }
    for (name, relationship) in object.entity.relationshipsByName {
      if !relationship.isToMany {
        object[name] = row.toOne[name].map(self.object)
      } else if let members = row.toMany[name]?.map(self.object) {
        object[name] = relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
      }
    }
  }

  private func object(_ number: Int) -> NSManagedObject { context.object(with: store.identifier(number)) }

  /// The names of the attributes that are stored as they are set.
  private func attributes(of object: NSManagedObject) -> [String] {
    object.entity.attributesByName.values.filter { !$0.isTransient && !($0 is NSDerivedAttributeDescription) }.map(
      \.name)
  }
}
