import Cairn
import CairnIncrementalStore
import CoreData
import Testing

/// Stores that are opened with another model than the time before.
@Suite struct ModelChangeTests {
  private let library = Library()
  private var url: URL { library.url }

  /// A variant of a model with items and lists: the items' constraints, the type of their value, and whether a list is
  /// ordered.
  private struct Form {
    var constraints: [[String]] = []
    var type = NSAttributeType.integer64AttributeType
    var isOrdered = false
    var comics = Comics.none
    /// Whether items inherit from an abstract entity.
    var hasThings = false

    enum Comics {
      case none
      /// An entity of its own, with a name of its own.
      case alone
      /// A subentity of items.
      case items
    }

    var model: NSManagedObjectModel {
      let (item, list) = (NSEntityDescription(), NSEntityDescription())
      (item.name, list.name) = ("Item", "List")
      let (name, value, link) = (NSAttributeDescription(), NSAttributeDescription(), NSAttributeDescription())
      (name.name, name.attributeType) = ("name", .stringAttributeType)
      (value.name, value.attributeType) = ("value", type)
      (link.name, link.attributeType) = ("link", .objectIDAttributeType)
      for attribute in [name, value, link] { attribute.isOptional = true }
      let (items, of) = (NSRelationshipDescription(), NSRelationshipDescription())
      (items.name, items.destinationEntity, items.inverseRelationship) = ("items", item, of)
      (of.name, of.destinationEntity, of.inverseRelationship, of.maxCount) = ("list", list, items, 1)
      (items.isOrdered, items.deleteRule) = (isOrdered, .noActionDeleteRule)
      item.properties = [name, value, link, of]
      list.properties = [items]
      item.uniquenessConstraints = constraints
      let model = NSManagedObjectModel()
      model.entities = [item, list]
      if comics != .none {
        let comic = NSEntityDescription()
        comic.name = "Comic"
        model.entities.append(comic)
        if comics == .items {
          item.subentities = [comic]
        } else {
          let name = NSAttributeDescription()
          (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
          comic.properties = [name]
        }
      }
      if hasThings {
        let thing = NSEntityDescription()
        (thing.name, thing.isAbstract, thing.subentities) = ("Thing", true, [item])
        model.entities.append(thing)
      }
      return model
    }
  }

  private func work<Result>(
    _ form: Form = Form(), ignoring: Bool = false, isReadOnly: Bool = false,
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: form.model)
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url,
      options: [
        CairnDurabilityOption: "buffered", NSIgnorePersistentStoreVersioningOption: NSNumber(value: ignoring),
        NSReadOnlyPersistentStoreOption: NSNumber(value: isReadOnly),
      ])
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  private func save(_ names: String..., in context: NSManagedObjectContext) throws {
    for name in names { _ = context.insert("Item", ["name": name]) }
    try context.save()
  }

  @Test func aConstraintThatTheModelGetsHoldsForObjectsThatAreThere() throws {
    try work { (context) throws in try save("a", "b", in: context) }
    try work(Form(constraints: [["name"]])) { (context) throws in
      #expect(code { try save("a", in: context) } == NSManagedObjectConstraintMergeError)
      context.rollback()
      try save("c", in: context)
    }
  }

  @Test func aConstraintThatObjectsContradictIsRefusedAndNothingChanges() throws {
    try work { (context) throws in try save("a", "a", in: context) }
    #expect(code { try work(Form(constraints: [["name"]])) { _ in } } == 134111)
    try work { (context) throws in #expect(try context.all("Item").count == 2) }
  }

  @Test func aConstraintThatTheModelLosesLeavesNoKeysBehind() throws {
    let unique = Form(constraints: [["name"]])
    try work(unique) { (context) throws in try save("a", "b", in: context) }
    try work { (context) throws in
      for item in try context.all("Item") where item.value(forKey: "name") as? String == "a" { context.delete(item) }
      try context.save()
    }
    try work(unique) { (context) throws in
      try save("a", in: context)
      #expect(code { try save("b", in: context) } == NSManagedObjectConstraintMergeError)
    }
  }

  @Test func aConstraintThatAnEntityInheritsHoldsForObjectsThatAreThere() throws {
    try work(Form(comics: .items)) { (context) throws in
      _ = context.insert("Comic", ["name": "a"])
      try context.save()
    }
    try work(Form(constraints: [["name"]], comics: .alone), ignoring: true) { _ in }
    try work(Form(constraints: [["name"]], comics: .items), ignoring: true) { (context) throws in
      #expect(code { try save("a", in: context) } == NSManagedObjectConstraintMergeError)
      context.rollback()
      try save("b", in: context)
    }
  }

  @Test func aConstraintThatAnEntityNoLongerInheritsLeavesNoKeysBehind() throws {
    try work(Form(constraints: [["name"]], comics: .items)) { (context) throws in
      _ = context.insert("Comic", ["name": "a"])
      try save("b", in: context)
    }
    try work(Form(constraints: [["name"]], comics: .alone), ignoring: true) { (context) throws in
      try save("a", in: context)
      #expect(code { try save("b", in: context) } == NSManagedObjectConstraintMergeError)
    }
    // Now the comic and the item have the same name.
    #expect(code { try work(Form(constraints: [["name"]], comics: .items), ignoring: true) { _ in } } == 134111)
  }

  @Test func aStoreThatIsOnlyReadHasTheObjectsOfANewSuperentity() throws {
    try work { (context) throws in try save("a", "b", in: context) }
    for isReadOnly in [true, false, true] {
      try work(Form(hasThings: true), ignoring: true, isReadOnly: isReadOnly) { (context) throws in
        #expect(try context.all("Thing").count == 2)
        #expect(try context.all("Item", "name == %@", "b").count == 1)
        let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        #expect(count == 2)
      }
    }
  }

  @Test func constraintsThatAreEmptyOrThereTwiceStandInNobodysWay() throws {
    try work(Form(constraints: [["name"], [], ["name"]])) { (context) throws in
      try save("a", "b", in: context)
      #expect(code { try save("a", in: context) } == NSManagedObjectConstraintMergeError)
    }
  }

  @Test func aValueThatIsNoNumberIsLikeNoOther() throws {
    try work(Form(constraints: [["value"]], type: .doubleAttributeType)) { (context) throws in
      for _ in 0..<2 { _ = context.insert("Item", ["value": Double.nan]) }
      try context.save()
      _ = context.insert("Item", ["value": 1.5])
      try context.save()
      _ = context.insert("Item", ["value": 1.5])
      #expect(code { try context.save() } == NSManagedObjectConstraintMergeError)
    }
  }

  @Test func anAttributeOfAnotherTypeIsAnotherAttribute() throws {
    try work { (context) throws in
      _ = context.insert("Item", ["name": "a", "value": 7])
      try context.save()
    }
    try work(Form(type: .stringAttributeType), ignoring: true) { (context) throws in
      let item = try #require(try context.all("Item").first)
      #expect(item.value(forKey: "name") as? String == "a" && item.value(forKey: "value") == nil)
      item.setValue("seven", forKey: "value")
      try context.save()
    }
    try work(Form(type: .stringAttributeType), ignoring: true) { (context) throws in
      #expect(try context.all("Item").first?.value(forKey: "value") as? String == "seven")
    }
  }

  @Test func aRelationshipThatBecomesOrderedBeginsEmpty() throws {
    try work { (context) throws in
      context.insert("Item", ["name": "a"]).setValue(context.insert("List"), forKey: "list")
      try context.save()
    }
    try work(Form(isOrdered: true), ignoring: true) { (context) throws in
      let list = try #require(try context.all("List").first)
      #expect((list.value(forKey: "items") as? NSOrderedSet)?.count == 0)
      list.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["name": "b"]))
      try context.save()
    }
  }

  @Test func metadataThatReplaceAllOthersLeaveTheHashesOfTheModel() throws {
    try work { (context) throws in
      let coordinator = try #require(context.persistentStoreCoordinator)
      coordinator.setMetadata(["note": 1], for: coordinator.persistentStores[0])
      try context.save()
    }
    #expect(
      code { try work(Form(type: .stringAttributeType)) { _ in } } == NSPersistentStoreIncompatibleVersionHashError)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .cairn, at: url)
    #expect(metadata["note"] as? Int == 1)
  }

  @Test func anIdentifierOfAStoreThatIsNotOpenStays() throws {
    try work { (context) throws in _ = try saveLink(context) }
    let before = try rowBytes()
    try work { (context) throws in
      let item = try #require(try context.all("Item").first)
      #expect(item.value(forKey: "link") == nil)
      item.setValue("b", forKey: "name")
      try context.save()
    }
    let after = try rowBytes()
    #expect(before.contains("x-coredata") && after.contains("x-coredata"))
  }

  @Test func anIdentifierOfAStoreThatIsNotOpenCanBeTakenAway() throws {
    try work { (context) throws in
      let (item, target, memory) = try saveLink(context)
      context.refresh(item, mergeChanges: false)
      #expect(item.value(forKey: "link") as? NSManagedObjectID == target.objectID)
      try context.persistentStoreCoordinator?.remove(memory)
      item.setValue(nil, forKey: "link")
      try context.save()
    }
    let rows = try rowBytes()
    #expect(rows.contains("a") && !rows.contains("x-coredata"))
  }

  /// Saves an item with the identifier of another item, which is in a store in memory.
  private func saveLink(
    _ context: NSManagedObjectContext
  ) throws -> (item: NSManagedObject, target: NSManagedObject, memory: NSPersistentStore) {
    let coordinator = try #require(context.persistentStoreCoordinator)
    let memory = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let target = context.insert("Item", ["name": "target"])
    context.assign(target, to: memory)
    let item = context.insert("Item", ["name": "a"])
    context.assign(item, to: coordinator.persistentStores[0])
    try context.obtainPermanentIDs(for: [target])
    item.setValue(target.objectID, forKey: "link")
    try context.save()
    return (item, target, memory)
  }

  /// The bytes of all objects' rows, as one text.
  private func rowBytes() throws -> String {
    let store = try Store.open(at: url.path)
    defer { try? store.close() }
    let rows = try store.keyspaces.filter { $0.name.hasPrefix("table ") && $0.name != "table 0" }
      .flatMap { try store.snapshot().rows(in: $0) }
    return rows.map { String(decoding: $0.value, as: UTF8.self) }.joined()
  }

  @Test func anOwnerThatIsInsertedAgainKeepsAMemberThatIsSavedWithIt() throws {
    try work { (context) throws in
      context.insert("Item", ["name": "m"]).setValue(context.insert("List"), forKey: "list")
      try context.save()
      let coordinator = try #require(context.persistentStoreCoordinator)
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = coordinator
      let list = try #require(try context.all("List").first)
      let item = try #require((list.value(forKey: "items") as? Set<NSManagedObject>)?.first)
      try other.performAndWait {
        other.delete(try #require(try other.all("List").first))
        try other.save()
      }
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      item.setValue("n", forKey: "name")
      list.mutableSetValue(forKey: "items").add(context.insert("Item", ["name": "new"]))
      try context.save()
    }
    try work { (context) throws in
      let list = try #require(try context.all("List").first)
      #expect((list.value(forKey: "items") as? Set<NSManagedObject>)?.count == 2)
    }
  }

  @Test func objectsAreSortedByThemselves() throws {
    try work { (context) throws in
      try save("a", "b", "c", in: context)
      context.reset()
      for key in ["self", nil] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
        request.fetchLimit = 2
        let all = try context.all("Item").map(\.objectID)
        #expect(try context.fetch(request).map(\.objectID) == Array(all.reversed().prefix(2)))
      }
    }
  }
}
