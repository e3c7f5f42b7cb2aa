import CairnIncrementalStore
import CoreData
import Testing

@Suite("A process that ends without closing its store on Cairn")
struct KilledProcessTests {
  @Test("A process that ends without closing loses no save, and none of its identifiers is used again.")
  func references() async throws {
    let place = try Place()
    try place.fill()
    let path = place.url.path
    let before = try place.work { context, _ in try context.person("Ada").objectID.uriRepresentation() }
    for _ in 0..<2 {
      await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
        CairnIncrementalStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Town.model())
        _ = try coordinator.addPersistentStore(type: .cairn, at: URL(filePath: path))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
          let people = (0..<300).map { _ in context.make("Person", ["name": "Bob"]) }
          try context.obtainPermanentIDs(for: people)
          for person in people { person["nickname"] = person.objectID.uriRepresentation().absoluteString }
          try context.save()
          for person in people { context.delete(person) }
          context.make("Pet", ["name": people.map { $0["nickname"] as? String ?? "" }.joined(separator: " ")])
          try context.save()
        }
        _exit(7)
      }
    }
    try place.work { context, _ in
      let given = try context.all("Pet").flatMap {
        ($0["name"] as? String ?? "").split(separator: " ").map(String.init)
      }
      let people = (0..<300).map { _ in context.make("Person", ["name": "Cleo"]) }
      try context.obtainPermanentIDs(for: people)
      let all = given + people.map { $0.objectID.uriRepresentation().absoluteString } + [before.absoluteString]
      #expect(all.count == 901)
      #expect(Set(all).count == all.count)
    }
  }
}
