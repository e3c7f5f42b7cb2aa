import CairnIncrementalStore
import CoreData
@testable import IncrementalStore
import RowFormat
import Testing

@Suite("Inferred migrations of attributes")
final class AttributeMigrationTests: MigratedStore {
  @Test("A new attribute has its default value in objects that were saved before, also in predicates and indexes.")
  func newAttributes() throws {
    let uris = try fill()
    let second = first.changed {
      $0.entities["Item"]!.properties["note"] = .attribute(.stringAttributeType)
      $0.entities["Item"]!.properties["state"] = .attribute(.stringAttributeType, required: "new")
      $0.entities["Item"]!.properties["rank"] = .attribute(.integer32AttributeType, required: 7)
      $0.entities["Item"]!.indexes = [["rank"]]
    }
    try work(second) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.objectID.uriRepresentation() } == uris)
      #expect(items.allSatisfy { $0.value(forKey: "note") == nil && $0.value(forKey: "state") as? String == "new" })
      #expect(try context.all("Item", "state == %@", "new").count == 3)
      #expect(try context.all("Item", "state != %@", "new").isEmpty)
      #expect(try context.all("Item", "rank == %@", 7).count == 3)
      #expect(try context.all("Item", "note == nil").count == 3)
      items[0].setValue("old", forKey: "state")
      items[1].setValue("kept", forKey: "name")
      try context.save()
    }
    // A later default does not change what rows have.
    let third = second.changed {
      $0.entities["Item"]!.properties["state"]!.value = "other"
      $0.entities["Item"]!.properties["more"] = .attribute(.booleanAttributeType, required: true)
    }
    try work(third) { (context) throws in
      #expect(try context.all("Item", "state == %@", "new").count == 2)
      #expect(try context.all("Item", "state == %@", "old").count == 1)
      #expect(try context.all("Item", "more == YES").count == 3)
      #expect(try context.all("Item", "rank == %@", 7).count == 3)
    }
  }

  @Test("An attribute that is required from now on has its default value where it was nil.")
  func required() throws {
    try fill()
    try work(first) { (context) throws in
      _ = context.insert("Item", ["name": "i3"])
      try context.save()
    }
    let indexed = first.changed { $0.entities["Item"]!.indexes = [["number"]] }
    try work(indexed) { (context) throws in #expect(try context.all("Item", "number == nil").count == 1) }
    let second = indexed.changed {
      $0.entities["Item"]!.properties["number"] = .attribute(.integer16AttributeType, required: 9)
    }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? Int } == [0, 1, 2, 9])
      #expect(try context.all("Item", "number == %@", 9).count == 1)
      #expect(try context.all("Item", "number == nil").isEmpty)
    }
    // From now on, nil is nil again; what had the default value keeps it.
    try work(indexed) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.value(forKey: "number") as? Int } == [0, 1, 2, 9])
      items[0].setValue(nil, forKey: "number")
      try context.save()
      #expect(try context.all("Item", "number == nil").count == 1)
    }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? Int } == [9, 1, 2, 9])
    }
  }

  @Test("In a store of the former schema format, nil becomes the default value of a required attribute.")
  func formerFormat() throws {
    try fill()
    try work(first) { (context) throws in
      _ = context.insert("Item", ["name": "i3"])
      try context.save()
    }
    let (coordinator, store) = try open(first)
    _ = try store.rowStore?.save { snapshot in
      let row = try #require(try snapshot.row(.integer(2), in: 0))
      var changes = RowChanges()
      changes.rows = [
        RowChanges.Row(
          table: 0, reference: .integer(2), change: .put(try Schema(row.bytes).formerBytes), revision: row.revision)
      ]
      return changes
    }
    try coordinator.remove(store)
    let second = first.changed {
      $0.entities["Item"]!.properties["number"] = .attribute(.integer16AttributeType, required: 9)
      $0.entities["Item"]!.properties["name"]!.isOptional = false
    }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? Int } == [0, 1, 2, 9])
    }
  }

  @Test("A required attribute without a default value is refused.")
  func missingDefault() throws {
    try fill()
    let new = first.changed {
      $0.entities["Item"]!.properties["x"] = Property(kind: .attribute(.dateAttributeType), isOptional: false)
    }
    try refuse(
      new, "The attribute x is required and has no default value. Entities: Item in the store, Item in the model")
    try refuse(
      first.changed { $0.entities["Item"]!.properties["name"]!.isOptional = false }, "attribute name is required")
  }

  @Test("An attribute that is removed and added again does not get its former values back.")
  func removedAttribute() throws {
    try fill()
    try work(first.changed { $0.entities["Item"]!.properties["number"] = nil }) { _ in }
    try work(first) { (context) throws in
      #expect(try items(context).allSatisfy { $0.value(forKey: "number") == nil })
    }
  }
}

extension Schema {
  /// The bytes of a schema without indexes in format 1.
  fileprivate var formerBytes: [UInt8] {
    var output = ByteOutput()
    output.byte(1)
    output.varint(nextNumber)
    output.varint(entities.count)
    for entity in entities {
      output.varint(entity.number)
      output.text(entity.name)
      output.varint(entity.superentity)
      output.byte(entity.isAbstract ? 1 : 0)
      output.varint(entity.properties.count)
      for property in entity.properties {
        output.varint(property.number)
        output.text(property.name)
        switch property.kind {
        case .attribute(let type):
          output.byte(0)
          output.varint(type)
        case .toOne(let end): Self.write(1, end, &output)
        case .toMany(let end, let isOrdered): Self.write(isOrdered ? 3 : 2, end, &output)
        }
      }
      output.varint(0)
    }
    return output.bytes
  }
  private static func write(_ kind: UInt8, _ end: Relationship, _ output: inout ByteOutput) {
    output.byte(kind)
    output.varint(end.destination)
    output.varint(end.inverse)
    output.byte(end.deleteRule)
  }
}
