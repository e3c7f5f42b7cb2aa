import CairnIncrementalStore
import CoreData
import Synchronization
import Testing

@Suite("Inferred migrations")
final class MigrationTests: MigratedStore {
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
    let failures = Mutex<[String]>([])
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
        if found != uris.count { failures.withLock { $0.append("found \(found)") } }
        try coordinator.remove(store)
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    try work(second) { (context) throws in #expect(try context.all("Item").count == uris.count) }
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
}
