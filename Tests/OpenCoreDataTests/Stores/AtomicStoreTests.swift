import CairnIncrementalStore
import Foundation
import OpenCoreData
import Testing

@Suite("Atomic stores") final class AtomicStoreTests {
  private let folder = URL.temporaryDirectory.appending(path: "atomic \(UUID().uuidString)")
  private let model = NSManagedObjectModel()
  private var file: URL { folder.appending(path: "people.json") }

  init() throws {
    let (person, pet) = (entity("Person", class: "NSManagedObject"), entity("Pet", class: "NSManagedObject"))
    let (pets, owner) = (relationship("pets", to: pet), relationship("owner", to: person, isToMany: false))
    pets.isOrdered = true
    connect(pets, owner)
    let (friends, fans) = (relationship("friends", to: person), relationship("fans", to: person))
    connect(friends, fans)
    person.properties = [
      attribute("name", .string), attribute("age", .integer64), attribute("born", .date),
      attribute("photo", .binaryData),
      attribute("token", .uuid), attribute("home", .uri), attribute("wage", .decimal), attribute("isGlad", .boolean),
      attribute("weight", .double), pets, friends, fans, relationship("idol", to: person, isToMany: false),
      relationship("heroes", to: person), relationship("teachers", to: person) { $0.isOrdered = true },
    ]
    person.uniquenessConstraints = [["name"]]
    pet.properties = [attribute("name", .string), owner]
    model.entities = [person, pet]
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, type: JSONStore.storeType)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func coordinator() throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: JSONStore.storeType, at: file)
    return coordinator
  }

  private func work<Result>(
    _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  /// Saves two friends, one of them with two pets.
  @discardableResult
  private func fill(_ coordinator: NSPersistentStoreCoordinator) throws -> NSManagedObjectID {
    try work(coordinator) { (context) throws in
      let ann = context.make(
        "Person", "Ann",
        [
          "age": 36, "born": Date(timeIntervalSinceReferenceDate: 1.5), "photo": Data([0, 255]),
          "token": UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")!,
          "home": URL(string: "https://a.example/b")!,
          "wage": NSDecimalNumber(string: "0.1"), "isGlad": true, "weight": 61.25,
        ])
      ann["pets"] = NSOrderedSet(array: ["Tom", "Rex"].map { context.make("Pet", $0) })
      context.make("Person", "Bob", ["friends": NSSet(object: ann)])
      try context.save()
      return ann.objectID
    }
  }

  /// All people as texts, in the order of their names.
  private func people(_ context: NSManagedObjectContext) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request).map { person in
      let pets = (person["pets"] as? NSOrderedSet)?.array.compactMap { ($0 as? NSManagedObject)?["name"] as? String }
      return "\(person["name"] ?? "-") \(pets ?? []) \(person.names("friends")) \(person.names("fans"))"
    }
  }

  private static let filled = [#"Ann ["Tom", "Rex"] [] ["Bob"]"#, #"Bob [] ["Ann"] []"#]

  @Test("What was saved is there when the store is added again, with the same identifiers and metadata.")
  func saved() throws {
    let first = try coordinator()
    let uri = try fill(first).uriRepresentation()
    try work(first) { (context) throws in
      first.persistentStores[0].metadata["note"] = "kept"
      try context.save()
    }
    let second = try coordinator()
    #expect(second.persistentStores[0].metadata["note"] as? String == "kept")
    #expect(try JSONStore.metadataForPersistentStore(with: file)["note"] as? String == "kept")
    try work(second) { (context) throws in
      #expect(try people(context) == Self.filled)
      let id = try #require(second.managedObjectID(forURIRepresentation: uri))
      let ann = try context.existingObject(with: id)
      #expect(ann["age"] as? Int == 36 && ann["isGlad"] as? Bool == true && ann["weight"] as? Double == 61.25)
      #expect(
        ann["born"] as? Date == Date(timeIntervalSinceReferenceDate: 1.5) && ann["photo"] as? Data == Data([0, 255]))
      #expect((ann["token"] as? UUID)?.uuidString == "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")
      #expect(ann["home"] as? URL == URL(string: "https://a.example/b"))
      #expect(ann["wage"] as? NSDecimalNumber == NSDecimalNumber(string: "0.1"))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      request.predicate = NSPredicate(format: "owner.age > 30 AND name BEGINSWITH %@", "T")
      #expect(try context.fetch(request).map { $0["name"] as? String } == ["Tom"])
    }
  }

  @Test("Changes and deletions are written, and leave no node behind.")
  func changed() throws {
    let first = try coordinator()
    try fill(first)
    try work(first) { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      for person in try context.fetch(request) {
        if person["name"] as? String == "Ann" { context.delete(person) } else { person["name"] = "Bea" }
      }
      try context.save()
      #expect(try people(context) == ["Bea [] [] []"])
    }
    let store = try #require(first.persistentStores[0] as? JSONStore)
    #expect(store.cacheNodes().count == 3)
    #expect(try work(coordinator()) { try people($0) } == ["Bea [] [] []"])
  }

  @Test("Deleted objects leave relationships without an inverse, so the file can be read again.")
  func withoutInverse() throws {
    let first = try coordinator()
    try work(first) { (context) throws in
      let (ann, bob, cy) = (context.make("Person", "Ann"), context.make("Person", "Bob"), context.make("Person", "Cy"))
      for person in [ann, cy] {
        person["idol"] = bob
        person["heroes"] = NSSet(array: [ann, bob])
        person["teachers"] = NSOrderedSet(array: [cy, bob, ann])
      }
      try context.save()
      context.delete(bob)
      try FileManager.default.removeItem(at: folder)
      #expect(throws: (any Error).self) { try context.save() }
      let store = try #require(first.persistentStores[0] as? JSONStore)
      #expect((store.cacheNode(for: ann.objectID)?.value(forKey: "teachers") as? NSOrderedSet)?.count == 3)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try context.save()
    }
    try work(coordinator()) { (context) throws in
      for name in ["Ann", "Cy"] {
        let person = try context.existingObject(with: context.fetchedID(of: name))
        #expect(
          person["idol"] == nil && person.names("heroes") == ["Ann"] && person.names("teachers") == ["Ann", "Cy"])
      }
    }
  }

  @Test("Conflicts of two contexts and of uniqueness constraints are found, and change nothing.")
  func conflicts() throws {
    let coordinator = try coordinator()
    let id = try fill(coordinator)
    let written = try Data(contentsOf: file)
    try work(coordinator) { (context) throws in
      let ann = try context.existingObject(with: id)
      ann["age"] = 37
      context.make("Person", "Bob")
      #expect(throws: CocoaError.self) { try context.save() }
      #expect(try Data(contentsOf: file) == written)
      context.rollback()
      ann["age"] = 38
      try work(coordinator) { (other) throws in
        try other.existingObject(with: id)["age"] = 40
        try other.save()
      }
      let error = try #require(throws: NSError.self) { try context.save() }
      #expect(error.code == NSManagedObjectMergeError)
    }
    #expect(try work(self.coordinator()) { try $0.existingObject(with: $0.fetchedID(of: "Ann"))["age"] as? Int } == 40)
  }

  @Test("A save that cannot be written changes nothing, and can be repeated.")
  func failedSave() throws {
    let coordinator = try coordinator()
    let id = try fill(coordinator)
    try work(coordinator) { (context) throws in
      try FileManager.default.removeItem(at: folder)
      let ann = try context.existingObject(with: id)
      ann["name"] = "Anna"
      for pet in try #require(ann["pets"] as? NSOrderedSet).array.compactMap({ $0 as? NSManagedObject }) {
        context.delete(pet)
      }
      context.make("Person", "Cy", ["fans": NSSet(object: ann)])
      #expect(throws: (any Error).self) { try context.save() }
      try work(coordinator) { (other) throws in #expect(try people(other) == Self.filled) }
      let store = try #require(coordinator.persistentStores[0] as? JSONStore)
      #expect(store.cacheNode(for: id)?.value(forKey: "name") as? String == "Ann" && store.cacheNodes().count == 4)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try context.save()
    }
    #expect(
      try work(self.coordinator()) { try people($0) }
        == [#"Anna [] ["Cy"] ["Bob"]"#, #"Bob [] ["Anna"] []"#, #"Cy [] [] ["Anna"]"#])
  }

  @Test(
    "A damaged file is refused when the store is added.",
    arguments: [
      "{", #"{"metadata": "", "objects": {}}"#, "relates to nothing", "a name that is a number", "another model",
    ])
  func damaged(_ damage: String) throws {
    try fill(coordinator())
    var text = try String(contentsOf: file, encoding: .utf8)
    switch damage {
    case "relates to nothing":
      let reference = try #require(text.firstMatch(of: /"owner" : \[\s*"([^"]*)/)).output.1
      text = text.replacing("\"owner\" : [\n          \"\(reference)\"", with: "\"owner\" : [\n          \"nobody\"")
    case "a name that is a number": text = text.replacing("\"Ann\"", with: "7")
    case "another model": text = text.replacing("\"Pet\"", with: "\"Dog\"")
    default: text = damage
    }
    try Data(text.utf8).write(to: file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(throws: (any Error).self) { try coordinator.addPersistentStore(type: JSONStore.storeType, at: file) }
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("Batch requests are refused, and a store moves to another type and back with its objects.")
  func requests() throws {
    let coordinator = try coordinator()
    try fill(coordinator)
    try work(coordinator) { (context) throws in
      let error = try #require(throws: NSError.self) {
        try context.execute(NSBatchInsertRequest(entityName: "Pet", objects: [["name": "Rex"]]))
      }
      #expect(error.code == NSPersistentStoreUnsupportedRequestTypeError)
    }
    CairnIncrementalStore.register()
    let moved = try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: folder.appending(path: "moved"), type: .cairn)
    #expect(try work(coordinator) { try people($0) } == Self.filled)
    try FileManager.default.removeItem(at: file)
    try coordinator.migratePersistentStore(moved, to: file, type: JSONStore.storeType)
    #expect(try work(coordinator) { try people($0) } == Self.filled)
    #expect(try work(self.coordinator()) { try people($0) } == Self.filled)
  }
}

extension NSManagedObjectContext {
  fileprivate func fetchedID(of name: String) throws -> NSManagedObjectID {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
    (request.resultType, request.predicate) = (.managedObjectIDResultType, NSPredicate(format: "name == %@", name))
    return try #require(try fetch(request).first)
  }
}
