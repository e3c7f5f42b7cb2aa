import Foundation
import OpenCoreData
import Testing

/// Lists with items, of which nobody knows which lists they are in: the relationships have no inverse.
@Suite struct DeletedMemberTests {
  enum Kind: CaseIterable {
    case inMemory, rows
  }

  private final class Stack {
    let url = URL(filePath: "/nowhere/\(UUID().uuidString)")
    let coordinator: NSPersistentStoreCoordinator

    init(_ kind: Kind) throws {
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      coordinator = NSPersistentStoreCoordinator(managedObjectModel: DeletedMemberTests.model())
      let type = kind == .inMemory ? NSInMemoryStoreType : TestRowStore.storeType
      _ = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    }

    deinit { TestRowStore.forget(url) }

    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    func work<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
      let context = context()
      return try context.performAndWait { try body(context) }
    }
  }

  private static func model() -> NSManagedObjectModel {
    let (list, item, special) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (list.name, item.name, special.name) = ("List", "Item", "Special")
    item.subentities = [special]
    let (set, row, name) = (NSRelationshipDescription(), NSRelationshipDescription(), NSAttributeDescription())
    (set.name, set.destinationEntity, row.name, row.destinationEntity) = ("set", item, "row", item)
    (row.isOrdered, name.name, name.attributeType) = (true, "name", .stringAttributeType)
    list.properties = [set, row]
    item.properties = [name]
    let model = NSManagedObjectModel()
    model.entities = [list, item, special]
    return model
  }

  private func item(_ name: String, _ context: NSManagedObjectContext, _ entity: String = "Item") -> NSManagedObject {
    let item = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    item["name"] = name
    return item
  }

  /// Saves two lists with the items a, b and c, of which the second is of a subentity.
  private func fill(_ stack: Stack) throws {
    try stack.work { context in
      let items = [item("a", context), item("b", context, "Special"), item("c", context)]
      for _ in 0..<2 {
        let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
        (list["set"], list["row"]) = (NSSet(array: items), NSOrderedSet(array: items))
      }
      try context.save()
    }
  }

  private func lists(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "List"))
  }

  private func find(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = NSPredicate(format: "name = %@", name)
    return try #require(try context.fetch(request).first)
  }

  private func names(_ list: NSManagedObject) -> [String] {
    let set = (list["set"] as? NSSet)?.allObjects as? [NSManagedObject] ?? []
    let row = (list["row"] as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
    func name(_ item: NSManagedObject) -> String { item["name"] as? String ?? "nil" }
    return [set.map(name).sorted().joined(), row.map(name).joined()]
  }

  /// What is stored, as a new context reads and counts it.
  private func expectStored(_ members: String, _ stack: Stack) throws {
    try stack.work { context in
      for list in try lists(context) { #expect(names(list) == [members, members]) }
      let request = NSFetchRequest<NSManagedObject>(entityName: "List")
      request.predicate = NSPredicate(format: "set.@count = %d AND row.@count = %d", members.count, members.count)
      #expect(try context.count(for: request) == 2)
    }
  }

  @Test(
    "A deletion removes the object from to-many relationships without an inverse, of lists in memory and others.",
    arguments: Kind.allCases)
  func deletion(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let list = try lists(context)[0]
      #expect(names(list) == ["abc", "abc"])
      context.delete(try find("b", context))
      context.processPendingChanges()
      #expect(names(list) == ["ac", "ac"] && !list.hasChanges)
      #expect(names(try lists(context)[1]) == ["ac", "ac"])
      try context.save()
      #expect(names(list) == ["ac", "ac"])
    }
    try expectStored("ac", stack)
  }

  @Test("A set that was asked for an object forgets the object when it is deleted.", arguments: Kind.allCases)
  func deletionAfterAQuestion(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let (list, b) = (try lists(context)[0], try find("b", context))
      let set = list.mutableSetValue(forKey: "set")
      #expect(set.contains(b))
      context.delete(b)
      context.processPendingChanges()
      #expect(!set.contains(b))
      try context.save()
      #expect(names(list) == ["ac", "ac"])
    }
  }

  @Test("A deletion and other changes of the same relationships are saved together.", arguments: Kind.allCases)
  func besides(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      for list in try lists(context) {
        list.mutableSetValue(forKey: "set").remove(try find("a", context))
        let row = list.mutableOrderedSetValue(forKey: "row")
        row.exchangeObject(at: 0, withObjectAt: 2)
        row.remove(try find("a", context))
      }
      let unsaved = item("d", context)
      for list in try lists(context) {
        list.mutableSetValue(forKey: "set").add(unsaved)
        list.mutableOrderedSetValue(forKey: "row").add(unsaved)
      }
      context.delete(try find("b", context))
      context.delete(unsaved)
      try context.save()
    }
    try expectStored("c", stack)
  }

  @Test(
    "A rollback, and inserting the object again, bring a deleted object back into its lists.",
    arguments: Kind.allCases, [false, true])
  func back(_ kind: Kind, _ byInserting: Bool) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let (list, b) = (try lists(context)[0], try find("b", context))
      list.mutableSetValue(forKey: "set").remove(try find("a", context))
      #expect(names(list) == ["bc", "abc"])
      context.delete(b)
      context.processPendingChanges()
      #expect(names(list) == ["c", "ac"])
      if byInserting { context.insert(b) } else { context.rollback() }
      #expect(names(list) == [byInserting ? "bc" : "abc", "abc"])
    }
  }

  @Test("A merged deletion removes the object from the lists of the context.", arguments: Kind.allCases)
  func merge(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let list = try lists(context)[0]
      #expect(names(list) == ["abc", "abc"])
      let b = try find("b", context).objectID
      try stack.work { other in
        other.delete(other.object(with: b))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [b]], into: [context])
      #expect(names(list) == ["ac", "ac"])
    }
  }

  @Test("An object that somebody else has deleted does not become a member.", arguments: Kind.allCases)
  func race(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let lists = try lists(context)
      for list in lists { #expect(names(list) == ["abc", "abc"]) }
      let late = item("d", context)
      try context.save()
      for list in lists {
        list.mutableSetValue(forKey: "set").add(late)
        list.mutableOrderedSetValue(forKey: "row").add(late)
      }
      try stack.work { other in
        other.delete(other.object(with: late.objectID))
        try other.save()
      }
      try context.save()
    }
    try expectStored("abc", stack)
  }
}
