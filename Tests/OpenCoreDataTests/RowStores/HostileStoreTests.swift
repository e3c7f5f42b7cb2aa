import Cairn
import CairnIncrementalStore
import Foundation
import OpenCoreData
import Testing

@Suite("Damaged content under valid checksums in a store on Cairn", .serialized)
struct HostileStoreTests {
  private static let rounds = 50

  @Test("Hostile bytes in an object's row make its readers throw with the place, and everything else can be read.")
  func rows() throws {
    try damage("row of x-coredata") { store, _ in
      let table = try #require((1..<30).map { "table \($0)" }.first { (try? store.rows($0).count) == 6 })
      let sound = try #require(try store.rows(table).first)
      return (table, sound)
    }
  }

  @Test("Hostile bytes in a pack of entries make its readers throw with the place.")
  func packs() throws {
    try damage(nil) { store, _ in ("entries", try #require(try store.rows("entries").first)) }
  }

  @Test("Hostile bytes in metadata, the schema or the numbers given out make their readers throw with the place.")
  func head() throws {
    try damage(nil) { store, round in
      ("table 0", try #require(try store.rows("table 0").first { $0.key == .integer(Int64(round % 3) + 1) }))
    }
  }

  /// In each round, damages a row of a new store, uses the store, and restores the row.
  private func damage(
    _ place: String?, _ choose: (_ store: HostileStore, _ round: Int) throws -> (keyspace: String, sound: Row)
  ) throws {
    var mutations = Mutations(SeededGenerator(seed: chooseSeed()))
    for round in 0..<Self.rounds {
      let store = try HostileStore()
      let (keyspace, sound) = try choose(store, round)
      try store.write(round < 3 ? [] : mutations.mutate(sound.value), at: sound.key, in: keyspace)
      if let context = attempt(nil, { try store.open() }) {
        use(context, store, place, isOfHead: keyspace == "table 0")
      }
      try store.close()
      try store.write(sound.value, at: sound.key, in: keyspace)
      try expectAllThere(store)
    }
  }

  /// Runs every kind of read, and saves.
  private func use(_ context: NSManagedObjectContext, _ store: HostileStore, _ place: String?, isOfHead: Bool) {
    context.performAndWait {
      let pets = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      let filtered = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      filtered.predicate = NSPredicate(
        format: "name == %@ OR age > 3 OR owner.name == %@ OR price > 10000 OR place.city == %@", "x", "y", "z")
      let filled = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      filled.returnsObjectsAsFaults = false
      filled.relationshipKeyPathsForPrefetching = ["owner.pets"]
      let people = NSFetchRequest<NSManagedObject>(entityName: "Person")
      let owners = NSFetchRequest<NSManagedObject>(entityName: "Person")
      owners.predicate = NSPredicate(format: "ANY pets.name == %@ OR ANY friends.name == %@", "x", "y")
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Pet")
      ids.resultType = .managedObjectIDResultType
      ids.includesPropertyValues = false

      attempt(place) { _ = try context.fetch(pets) }
      attempt(place) { _ = try context.fetch(filled) }
      context.reset()
      attempt(place) { _ = try context.fetch(filtered) }
      attempt(place) { _ = try context.count(for: filtered) }
      attempt(nil) { _ = try context.fetch(owners) }
      let found = attempt(nil) { try context.fetch(people) }
      // If the damaged schema has another name for the entity, the store has no people.
      if !isOfHead, let found { #expect(found.count == 2) }
      for id in attempt(nil, { try context.fetch(ids) }) ?? [] {
        attempt(place) {
          let pet = try context.existingObject(with: id)
          _ = pet.value(forKey: "tags")
          if let owner = pet.value(forKey: "owner") as? NSManagedObject {
            _ = try context.existingObject(with: owner.objectID)
          }
          pet.setValue("new name", forKey: "name")
          try context.save()
        }
        context.rollback()
      }
      for pet in attempt(place, { try context.fetch(pets) }) ?? [] {
        attempt(place) {
          context.delete(pet)
          _ = try context.fetch(pets)
        }
        context.rollback()
      }
      for person in attempt(nil, { try context.fetch(people) }) ?? [] {
        for name in ["pets", "friends"] {
          guard let relationship = person.entity.relationshipsByName[name] else { continue }
          attempt(nil) {
            _ = try store.incremental?.newValue(
              forRelationship: relationship, forObjectWith: person.objectID, with: context)
          }
        }
        attempt(nil) {
          person.setValue("new name \(person.objectID)", forKey: "name")
          try context.save()
        }
        context.rollback()
      }
      attempt(nil) {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        try context.save()
        context.delete(person)
        try context.save()
      }
      context.rollback()
    }
  }

  private func expectAllThere(_ store: HostileStore) throws {
    let context = try store.open()
    try context.performAndWait {
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) >= 2)
      let pets = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Pet"))
      #expect(pets.count == 6)
      #expect(pets.allSatisfy { $0.value(forKey: "owner") != nil })
    }
  }

  /// Returns nil if the body throws an error, which must be Cocoa's and, if it reports a damaged file, name the place.
  @discardableResult
  private func attempt<R>(_ place: String?, _ body: () throws -> R) -> R? {
    do {
      return try body()
    } catch {
      let error = error as NSError
      #expect(error.domain == NSCocoaErrorDomain, "\(error)")
      let isDamage = error.code == CocoaError.fileReadCorruptFile.rawValue
      if let place, isDamage { #expect(error.localizedDescription.contains(place), "\(error)") }
      return nil
    }
  }
}
