import Cairn
import CairnIncrementalStore
import Foundation
import OpenCoreData
import Testing

/// A store of two people, who are friends, and their pets, into which a test writes bytes that no save would write.
final class HostileStore {
  let url: URL
  private let model: NSManagedObjectModel
  private var coordinator: NSPersistentStoreCoordinator?

  init() throws {
    let directory = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    url = directory.appendingPathComponent("store")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    model = Self.model
    CairnIncrementalStore.register()
    let context = try open()
    try context.performAndWait { try Self.fill(context) }
    try close()
  }

  private static func fill(_ context: NSManagedObjectContext) throws {
    var people: [NSManagedObject] = []
    for name in ["Ann", "Bob"] {
      let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
      person.setValue(name, forKey: "name")
      people.append(person)
      for number in 0..<3 {
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
        pet.setValue("\(name)'s \(number)", forKey: "name")
        pet.setValue(person, forKey: "owner")
        pet.setValue(NSDecimalNumber(string: "12.5"), forKey: "price")
        pet.setValue(["city": "Ulm"], forKey: "place")
        pet.setValue(["tame", "loud"], forKey: "tags")
      }
    }
    people[0].mutableOrderedSetValue(forKey: "friends").add(people[1])
    try context.save()
  }

  deinit {
    try? close()
    try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
  }

  // MARK: Core Data

  func open() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      type: .cairn, at: url,
      options: [CairnDurabilityOption: "buffered", RowCacheBytesOption: NSNumber(value: 0)])
    self.coordinator = coordinator
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func close() throws {
    for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
    coordinator = nil
  }

  var incremental: NSIncrementalStore? { coordinator?.persistentStores.first as? NSIncrementalStore }

  // MARK: Bytes, while Core Data has the store closed

  func rows(_ name: String) throws -> [Row] {
    try withKeyspace(name) { store, keyspace in try store.snapshot().rows(in: keyspace) }
  }

  func write(_ content: [UInt8], at key: Key, in name: String) throws {
    _ = try withKeyspace(name) { store, keyspace in
      try store.write(durability: .buffered) { batch in try batch.put(content, at: key, in: keyspace) }
    }
  }

  private func withKeyspace<R>(_ name: String, _ body: (Store, Keyspace) throws -> R) throws -> R {
    let store = try Store.open(at: url.path)
    defer { try? store.close() }
    return try body(store, try store.keyspace(name, order: .ordered))
  }

  // MARK: Model

  private static var model: NSManagedObjectModel {
    let (person, pet) = (NSEntityDescription(), NSEntityDescription())
    (person.name, pet.name) = ("Person", "Pet")
    let (pets, owner, friends) = (NSRelationshipDescription(), NSRelationshipDescription(), NSRelationshipDescription())
    (pets.name, pets.destinationEntity, pets.inverseRelationship) = ("pets", pet, owner)
    (owner.name, owner.destinationEntity, owner.inverseRelationship) = ("owner", person, pets)
    owner.maxCount = 1
    (friends.name, friends.destinationEntity, friends.inverseRelationship) = ("friends", person, friends)
    friends.isOrdered = true
    for relationship in [pets, owner, friends] { relationship.deleteRule = .nullifyDeleteRule }
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [attribute("city", .stringAttributeType), attribute("floor", .integer16AttributeType)]
    person.properties = [attribute("name", .stringAttributeType), pets, friends]
    person.uniquenessConstraints = [["name"]]
    pet.properties = [
      attribute("name", .stringAttributeType), attribute("age", .integer32AttributeType),
      attribute("born", .dateAttributeType), attribute("price", .decimalAttributeType),
      attribute("link", .URIAttributeType), attribute("id", .objectIDAttributeType),
      attribute("tags", .transformableAttributeType), place, owner,
    ]
    let model = NSManagedObjectModel()
    model.entities = [person, pet]
    return model
  }

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
    return attribute
  }
}

/// Makes damaged bytes from valid ones: cuts them off, flips a bit, replaces a byte, or inserts bytes.
struct Mutations {
  private var random: SeededGenerator

  init(_ random: SeededGenerator) { self.random = random }

  mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
    case 1, 2:
      if let place = bytes.indices.randomElement(using: &random) {
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
    case 3:
      if let place = bytes.indices.randomElement(using: &random) {
        bytes[place] = .random(in: .min ... .max, using: &random)
      }
    default:
      let place = Int.random(in: 0...bytes.count, using: &random)
      bytes.insert(
        contentsOf: (0..<Int.random(in: 1..<9, using: &random)).map { _ in .random(in: .min ... .max, using: &random) },
        at: place)
    }
    return bytes
  }
}
