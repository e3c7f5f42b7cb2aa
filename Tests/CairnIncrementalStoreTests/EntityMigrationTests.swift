import CoreData
import Testing

@Suite("Inferred migrations of entities")
final class EntityMigrationTests: MigratedStore {
  @Test("What a removed entity leaves behind is removed, and is not found by an entity of the same name.")
  func removedEntity() throws {
    try fill()
    let second = first.changed {
      $0.entities["Tag"] = nil
      $0.entities["Item"]!.properties["tags"] = nil
    }
    try work(second) { (context) throws in #expect(try context.all("Item").count == 3) }
    try work(first) { (context) throws in
      #expect(try context.all("Tag").isEmpty)
      #expect(try items(context).allSatisfy { ($0.value(forKey: "tags") as! NSSet).count == 0 })
    }
  }

  @Test("An entity gets a superentity that is new, with attributes that move there from several entities.")
  func newParent() throws {
    try fill()
    let second = first.changed {
      $0.entities["Named"] = ModelVersion.Entity(
        isAbstract: true, properties: ["name": .attribute(.stringAttributeType)], constraints: [["name"]],
        indexes: [["name"]])
      for name in ["Item", "List", "Tag"] {
        $0.entities[name]!.parent = "Named"
        $0.entities[name]!.properties["name"] = nil
      }
    }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "name") as? String } == ["i0", "i1", "i2"])
      #expect(
        Set(try context.all("Named").map { $0.value(forKey: "name") as? String }) == ["i0", "i1", "i2", "l", "t"])
      #expect(try context.all("Named", "name == %@", "t").count == 1)
      _ = context.insert("Tag", ["name": "l"])
      #expect(code { try context.save() } == NSManagedObjectConstraintMergeError)
    }
    // And back again: the attribute moves down to several entities.
    try work(first) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "name") as? String } == ["i0", "i1", "i2"])
      #expect(try context.all("Tag").map { $0.value(forKey: "name") as? String } == ["t"])
    }
  }

  @Test("An entity that inherits from now on has values for what it inherits.")
  func moved() throws {
    try fill()
    let second = first.changed {
      $0.entities["List"]!.properties["color"] = .attribute(.stringAttributeType, required: "red")
    }
    try work(second) { (context) throws in
      try context.all("List")[0].setValue("blue", forKey: "color")
      try context.save()
    }
    let third = second.changed {
      $0.entities["Tag"]!.parent = "List"
      $0.entities["Tag"]!.properties = [:]
      $0.entities["Item"]!.properties["tags"] = nil
    }
    try work(third) { (context) throws in
      let lists = try items(context, "List")
      #expect(lists.map { $0.value(forKey: "name") as? String } == ["l", "t"])
      #expect(lists.map { $0.value(forKey: "color") as? String } == ["blue", "red"])
    }
  }

  @Test("A constraint that objects contradict is refused, also if they contradict it only by a default value.")
  func constraints() throws {
    try fill()
    try refuse(
      first.changed {
        $0.entities["Item"]!.properties["code"] = .attribute(.stringAttributeType, required: "x")
        $0.entities["Item"]!.constraints = [["code"]]
      }, "uniqueness constraint", code: 134111)
    try work(first) { (context) throws in
      for name in ["i3", "i4"] { _ = context.insert("Item", ["name": name]) }
      try context.save()
    }
    let unique = first.changed { $0.entities["Item"]!.constraints = [["number"]] }
    try work(unique) { _ in }
    let required = unique.changed {
      $0.entities["Item"]!.properties["number"] = .attribute(.integer16AttributeType, required: 9)
    }
    #expect(code { try work(required) { _ in } } == 134111)
    try work(first.changed { $0.entities["Item"]!.constraints = [["name"]] }) { (context) throws in
      _ = context.insert("Item", ["name": "i0"])
      #expect(code { try context.save() } == NSManagedObjectConstraintMergeError)
    }
  }

  @Test("An entity whose objects relationships may refer to is not removed while it has objects.")
  func referredTo() throws {
    let special = first.changed {
      $0.entities["Special"] = ModelVersion.Entity(parent: "Item")
    }
    try fill(special)
    try work(special) { (context) throws in
      _ = context.insert("Special", ["name": "s"])
      try context.save()
    }
    #expect(code { try work(first) { _ in } } == 134190)
    try work(special) { (context) throws in
      context.delete(try context.all("Special")[0])
      try context.save()
    }
    try work(first) { (context) throws in #expect(try context.all("Item").count == 3) }
  }
}
