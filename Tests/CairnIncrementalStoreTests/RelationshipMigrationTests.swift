import CoreData
import Testing

@Suite("Inferred migrations of relationships")
final class RelationshipMigrationTests: MigratedStore {
  @Test("A to-one relationship becomes to-many, and an unordered one ordered, with the same objects.")
  func promotions() throws {
    try fill()
    let second = first.changed {
      $0.entities["Item"]!.properties["list"] = .toMany("List", "items")
      $0.entities["Item"]!.properties["next"] = .toMany("Item", isOrdered: true)
      $0.entities["Item"]!.properties["tags"] = .toMany("Tag", "items", isOrdered: true)
    }
    try work(second) { (context) throws in
      let items = try items(context)
      #expect(items.allSatisfy { names($0.value(forKey: "list")) == ["l"] })
      #expect(items.map { names($0.value(forKey: "next")) } == [["i1"], [], []])
      #expect(items.map { names($0.value(forKey: "tags")) } == [["t"], ["t"], []])
      let list = try context.all("List")[0]
      #expect(names(list.value(forKey: "items")).sorted() == ["i0", "i1", "i2"])
      #expect(try context.all("Item", "ANY list == %@", list).count == 3)
      let other = context.insert("List", ["name": "m"])
      items[0].setValue(NSSet(array: [list, other]), forKey: "list")
      items[1].setValue(NSOrderedSet(array: [items[2], items[0]]), forKey: "next")
      context.delete(items[2])
      try context.save()
      #expect(names(other.value(forKey: "items")) == ["i0"])
    }
    let third = second.changed {
      $0.entities["List"]!.properties["items"] = .toMany("Item", "list", isOrdered: true)
      $0.entities["Item"]!.properties["next"] = .toMany("Item")
    }
    try work(third) { (context) throws in
      let items = try items(context)
      #expect(names(items[0].value(forKey: "list")).sorted() == ["l", "m"])
      #expect(names(items[1].value(forKey: "next")) == ["i0"])
      #expect(try names(context.all("List", "name == %@", "l")[0].value(forKey: "items")).sorted() == ["i0", "i1"])
    }
    try refuse(third) {
      $0.entities["Item"]!.properties["next"] = .toOne("Item")
    }
  }

  private func refuse(
    _ version: ModelVersion, _ change: (inout ModelVersion) -> Void
  ) throws {
    #expect(code { try work(version.changed(change)) { _ in } } == 134190)
    try work(version) { _ in }
  }

  @Test("A relationship gets an inverse, and loses one, with the same objects.")
  func inverses() throws {
    try fill()
    let second = first.changed {
      $0.entities["Item"]!.properties["next"] = .toOne("Item", "previous")
      $0.entities["Item"]!.properties["previous"] = .toMany("Item", "next")
      $0.entities["Tag"]!.properties["items"] = nil
      $0.entities["Item"]!.properties["tags"] = .toMany("Tag")
    }
    try work(second) { (context) throws in
      let items = try items(context)
      #expect(items.map { names($0.value(forKey: "previous")) } == [[], ["i0"], []])
      #expect(items.map { names($0.value(forKey: "tags")) } == [["t"], ["t"], []])
      #expect(try context.all("Item", "next == %@", items[1]).count == 1)
    }
    try work(
      first.changed {
        $0.entities["Item"]!.properties["next"] = .toOne("Item", "previous")
        $0.entities["Item"]!.properties["previous"] = .toMany("Item", "next")
      }
    ) { (context) throws in
      #expect(names(try context.all("Tag")[0].value(forKey: "items")).sorted() == ["i0", "i1"])
    }
  }

  @Test("Another destination is refused.")
  func destinations() throws {
    try fill()
    try refuse(
      first.changed { $0.entities["Item"]!.properties["next"] = .toOne("Tag") },
      "destination of the relationship next changes from Item to Tag")
  }
}
