import CairnIncrementalStore
import CairnInspection
import CoreData
@testable import IncrementalStore
import RowFormat
import Testing

@Suite("Inferred migrations")
final class MigrationTests {
  private let url = FileManager.default.temporaryDirectory.appending(path: "migration \(UUID().uuidString)")
  private typealias Property = ModelVersion.Property

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Items in lists, and tags of items.
  private let first = ModelVersion(entities: [
    "Item": ModelVersion.Entity(properties: [
      "name": .attribute(.stringAttributeType), "number": .attribute(.integer16AttributeType),
      "list": .toOne("List", "items"), "tags": .toMany("Tag", "items"), "next": .toOne("Item"),
    ]),
    "List": ModelVersion.Entity(properties: [
      "name": .attribute(.stringAttributeType), "items": .toMany("Item", "list"),
    ]),
    "Tag": ModelVersion.Entity(properties: [
      "name": .attribute(.stringAttributeType), "items": .toMany("Item", "tags"),
    ]),
  ])

  private func open(
    _ version: ModelVersion, _ options: [AnyHashable: Any] = [:]
  ) throws -> (coordinator: NSPersistentStoreCoordinator, store: CairnIncrementalStore) {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model)
    let given: [AnyHashable: Any] = [
      CairnDurabilityOption: "buffered", NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true, BuildsIndexesFirstOption: true,
    ]
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url, options: given.merging(options) { $1 })
    return (coordinator, store as! CairnIncrementalStore)
  }

  @discardableResult
  private func work<Result>(
    _ version: ModelVersion, _ options: [AnyHashable: Any] = [:], _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let (coordinator, store) = try open(version, options)
    defer {
      try? coordinator.remove(store)
      let damage = (try? Verifier(at: url.path).run().damage.map { "\($0)" }) ?? ["The store cannot be read."]
      #expect(damage == [])
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  /// Saves three items of one list, the first two with a tag, of which the first refers to the second.
  @discardableResult
  private func fill(_ version: ModelVersion? = nil) throws -> [URL] {
    try work(version ?? first) { (context) throws in
      let (list, tag) = (context.insert("List", ["name": "l"]), context.insert("Tag", ["name": "t"]))
      let items = (0..<3).map { context.insert("Item", ["name": "i\($0)", "number": $0, "list": list]) }
      for item in items.prefix(2) { item.setValue(NSSet(object: tag), forKey: "tags") }
      items[0].setValue(items[1], forKey: "next")
      try context.save()
      return items.map { $0.objectID.uriRepresentation() }
    }
  }

  private func items(_ context: NSManagedObjectContext, _ entity: String = "Item") throws -> [NSManagedObject] {
    try context.all(entity).sorted { ($0.value(forKey: "name") as! String) < ($1.value(forKey: "name") as! String) }
  }

  private func names(_ value: Any?) -> [String] {
    let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects.map { $0 } ?? []
    return objects.map { ($0 as! NSManagedObject).value(forKey: "name") as! String }
  }

  /// Expects that the migration is refused, that the message has some words, and that nothing changes.
  private func refuse(
    _ version: ModelVersion, _ words: String, code: Int = 134190, location: SourceLocation = #_sourceLocation
  ) throws {
    let failure = error { try work(version) { _ in } }
    #expect(failure?.code == code, sourceLocation: location)
    let text = failure?.localizedDescription ?? ""
    #expect(text.contains(words), "\(text)", sourceLocation: location)
    try work(first) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.value(forKey: "number") as? Int } == [0, 1, 2], sourceLocation: location)
      #expect(names((try context.all("List")).first?.value(forKey: "items")).count == 3, sourceLocation: location)
    }
  }

  // MARK: Options

  @Test("Without the options, a store of another model is refused and stays as it is.")
  func options() throws {
    try fill()
    let second = first.changed { $0.entities["Item"]!.properties["note"] = .attribute(.stringAttributeType) }
    #expect(code { try work(second, [NSMigratePersistentStoresAutomaticallyOption: false]) { _ in } } == 134100)
    #expect(code { try work(second, [NSInferMappingModelAutomaticallyOption: false]) { _ in } } == 134140)
    #expect(code { try work(second, [NSReadOnlyPersistentStoreOption: true]) { _ in } } == 134100)
    try work(first) { (context) throws in #expect(try context.all("Item").count == 3) }
  }

  @Test("After the migration only the new model opens the store.")
  func formerModel() throws {
    try fill()
    let second = first.changed { $0.entities["Item"]!.properties["note"] = .attribute(.stringAttributeType) }
    try work(second) { _ in }
    #expect(code { try work(first, [NSMigratePersistentStoresAutomaticallyOption: false]) { _ in } } == 134100)
    try work(second, [NSMigratePersistentStoresAutomaticallyOption: false]) { (context) throws in
      #expect(try context.all("Item").count == 3)
    }
  }

  @Test("A coordinator that has opened the store before its migration can no longer fetch, fire faults or save.")
  func openElsewhere() throws {
    try fill()
    let (coordinator, store) = try open(first)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    // Identifiers alone are fetched, so that no row is in the row cache.
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Tag")
    request.resultType = .managedObjectIDResultType
    let tag = try context.performAndWait { try context.fetch(request)[0] }
    try work(
      first.changed {
        $0.entities["Tag"] = nil; $0.entities["Item"]!.properties["tags"] = nil
      }
    ) { _ in }
    context.performAndWait {
      #expect(code { _ = try store.newValuesForObject(with: tag, with: context) } == 134100)
      let items = tag.entity.relationshipsByName["items"]!
      #expect(code { _ = try store.newValue(forRelationship: items, forObjectWith: tag, with: context) } == 134100)
      #expect(code { _ = try context.all("Item") } == 134100)
      _ = context.insert("Tag", ["name": "lost"])
      #expect(code { try context.save() } == 134100)
    }
    try coordinator.remove(store)
  }

  @Test("Of several threads that add a store at once, one migrates it, and all get it.")
  func atOnce() throws {
    let uris = try fill()
    let second = first.changed {
      $0.entities["Tag"] = nil
      $0.entities["Item"]!.properties["tags"] = nil
      $0.entities["Item"]!.properties["state"] = .attribute(.stringAttributeType, required: "new")
    }
    let failures = Failures()
    nonisolated(unsafe) let (tests, version) = (self, second)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      do {
        let (coordinator, store) = try unsafe tests.open(version, [BuildsIndexesFirstOption: false])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let found = try context.performAndWait {
          let items = try context.all("Item", "state == %@", "new")
          return items.count { $0.value(forKey: "name") != nil }
        }
        if found != uris.count { failures.add("found \(found)") }
        try coordinator.remove(store)
      } catch {
        failures.add("\(error)")
      }
    }
    #expect(failures.all.isEmpty)
    try work(second) { (context) throws in #expect(try context.all("Item").count == uris.count) }
  }

  private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    func add(_ text: String) { lock.withLock { texts.append(text) } }
    var all: [String] { lock.withLock { texts } }
  }

  // MARK: Attributes

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

  @Test("Renamed attributes, relationships and entities keep their values and identifiers.")
  func renamed() throws {
    let uris = try fill()
    let second = first.changed {
      var item = $0.entities.removeValue(forKey: "Item")!
      item.renaming = "Item"
      item.properties["title"] = item.properties.removeValue(forKey: "name")
      item.properties["title"]!.renaming = "name"
      item.properties["labels"] = .toMany("Tag", "things")
      item.properties["labels"]!.renaming = "tags"
      item.properties["tags"] = nil
      item.properties["next"] = .toOne("Thing")
      $0.entities["Thing"] = item
      $0.entities["List"]!.properties["items"] = .toMany("Thing", "list")
      $0.entities["Tag"]!.properties["items"] = nil
      $0.entities["Tag"]!.properties["things"] = .toMany("Thing", "labels")
      $0.entities["Tag"]!.properties["things"]!.renaming = "items"
    }
    try work(second) { (context) throws in
      let things = try context.all("Thing").sorted {
        ($0.value(forKey: "title") as! String) < ($1.value(forKey: "title") as! String)
      }
      #expect(things.map { $0.value(forKey: "title") as? String } == ["i0", "i1", "i2"])
      #expect(names(things[0].value(forKey: "labels")) == ["t"] && names(things[2].value(forKey: "labels")).isEmpty)
      #expect(things[0].value(forKey: "next") as? NSManagedObject === things[1])
      #expect((try context.all("Tag"))[0].value(forKey: "things").map { ($0 as! NSSet).count } == 2)
      #expect(things.map { $0.objectID.uriRepresentation().lastPathComponent } == uris.map(\.lastPathComponent))
    }
    // A third version that still has the renaming identifiers of the first, or the names of the second.
    for identifier in ["Item", "Thing"] {
      let third = second.changed {
        var thing = $0.entities.removeValue(forKey: "Thing")!
        thing.renaming = identifier
        thing.properties["next"] = nil
        thing.properties["list"] = nil
        thing.properties["labels"] = nil
        $0 = ModelVersion(entities: ["Piece": thing])
      }
      try FileManager.default.copyItem(at: url, to: url.appendingPathExtension("kept"))
      try work(third) { (context) throws in
        let pieces = try context.all("Piece")
        #expect(Set(pieces.map { $0.value(forKey: "title") as? String }) == ["i0", "i1", "i2"])
      }
      try FileManager.default.removeItem(at: url)
      try FileManager.default.moveItem(at: url.appendingPathExtension("kept"), to: url)
    }
  }

  @Test("URIs with the names that an entity had before lead to its objects.")
  func formerURIs() throws {
    let uris = try fill(first)
    var version = first
    for name in ["Thing", "Piece"] {
      version = version.changed {
        let old = $0.entities.keys.first { !["List", "Tag"].contains($0) }!
        $0.entities[name] = $0.entities.removeValue(forKey: old)
        $0.entities[name]!.renaming = "Item"
        $0.entities[name]!.properties["next"] = .toOne(name)
        $0.entities["List"]!.properties["items"] = .toMany(name, "list")
        $0.entities["Tag"]!.properties["items"] = .toMany(name, "tags")
      }
      try work(version) { (context) throws in
        for former in ["Item", "Thing", "Piece"] where former <= name || former == "Item" {
          let text = uris[0].absoluteString.replacing("/Item/", with: "/\(former)/")
          let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: URL(string: text)!)
          let isKnown = former == "Item" || former == name || name == "Piece"
          #expect((id != nil) == isKnown, "\(former) in \(name)")
          if let id { #expect(context.object(with: id).value(forKey: "name") as? String == "i0") }
        }
      }
    }
  }

  @Test("Integers get wider. Any other change of a type is refused.")
  func types() throws {
    try fill()
    try refuse(
      first.changed { $0.entities["Item"]!.properties["number"] = .attribute(.doubleAttributeType) },
      "attribute types of number are incompatible")
    try refuse(
      first.changed { $0.entities["Item"]!.properties["name"] = .toOne("List") },
      "name was an attribute and becomes a relationship")
    let second = first.changed { $0.entities["Item"]!.properties["number"] = .attribute(.integer64AttributeType) }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? Int } == [0, 1, 2])
    }
    #expect(code { try work(first) { _ in } } == 134190)
  }

  // MARK: Relationships

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
    try refuse(third, from: third) {
      $0.entities["Item"]!.properties["next"] = .toOne("Item")
    }
  }

  private func refuse(
    _ version: ModelVersion, from _: ModelVersion, _ change: (inout ModelVersion) -> Void
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

  // MARK: Entities

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
