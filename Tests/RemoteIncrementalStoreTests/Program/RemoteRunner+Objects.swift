import CairnSimulation
import CoreData
import Foundation
import RemoteIncrementalStore

/// What a program does with the objects of a context.
extension RemoteRunner {
  func insert(_ store: ProgramStore, _ random: inout SplitMix64) throws {
    let token = "store \(store.index).\(nextSerial())"
    let entity = ["Bug", "Bug", "Bug", "User", "Tag"].randomElement(using: &random) ?? "Bug"
    let word = word(&random)
    let seed = random.next()
    try perform(store) { context in
      var random = SplitMix64(seed: seed)
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      object.setValue(token, forKey: "token")
      guard entity == "Bug" else { return object.setValue(word, forKey: "name") }
      object.setValue(word, forKey: "title")
      object.setValue(["open", "closed"].randomElement(using: &random), forKey: "state")
      object.setValue(Int64(random.next() % 5), forKey: "priority")
      if Bool.random(using: &random) {
        object.setValue(try Self.all("User", context).randomElement(using: &random), forKey: "assignee")
      }
      let tags = try Self.all("Tag", context).filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
      object.setValue(Set(tags), forKey: "tags")
    }
  }

  func edit(_ store: ProgramStore, _ random: inout SplitMix64) throws {
    let seed = random.next()
    let word = word(&random)
    try perform(store) { context in
      var random = SplitMix64(seed: seed)
      let entity = ["Bug", "Bug", "Bug", "User", "Tag"].randomElement(using: &random) ?? "Bug"
      guard let object = try self.changeable(entity, store, context).randomElement(using: &random) else { return }
      guard entity == "Bug" else { return object.setValue(word, forKey: "name") }
      switch Int.random(in: 0..<3, using: &random) {
      case 0: object.setValue(word, forKey: "title")
      case 1: object.setValue(["open", "closed"].randomElement(using: &random), forKey: "state")
      default: object.setValue(Int64(random.next() % 1000), forKey: "priority")
      }
    }
  }

  func relate(_ store: ProgramStore, _ random: inout SplitMix64) throws {
    let seed = random.next()
    try perform(store) { context in
      var random = SplitMix64(seed: seed)
      guard let bug = try self.changeable("Bug", store, context).randomElement(using: &random) else { return }
      if Bool.random(using: &random) {
        let user = try Self.all("User", context).randomElement(using: &random)
        bug.setValue(Int.random(in: 0..<4, using: &random) == 0 ? nil : user, forKey: "assignee")
      } else if let tag = try Self.all("Tag", context).randomElement(using: &random) {
        let tags = bug.mutableSetValue(forKey: "tags")
        if tags.contains(tag) { tags.remove(tag) } else { tags.add(tag) }
      }
    }
  }

  func delete(_ store: ProgramStore, _ random: inout SplitMix64) throws {
    let seed = random.next()
    try perform(store) { context in
      var random = SplitMix64(seed: seed)
      let entity = ["Bug", "Bug", "Bug", "Bug", "User", "Tag"].randomElement(using: &random) ?? "Bug"
      if let object = try self.changeable(entity, store, context).randomElement(using: &random) {
        context.delete(object)
      }
    }
  }

  func save(_ store: ProgramStore) throws {
    let (saved, deleted) = try perform(store) { context in
      var saved: [String: [String: RemoteValue]] = [:]
      for object in context.insertedObjects.union(context.updatedObjects) {
        guard let token = object.value(forKey: "token") as? String else { continue }
        for (name, value) in object.changedValues() where object.entity.attributesByName[name] != nil {
          saved[token, default: [:]][name] = Self.remote(value)
        }
      }
      let deleted = context.deletedObjects.compactMap {
        $0.committedValues(forKeys: ["token"])["token"] as? String ?? $0.value(forKey: "token") as? String
      }
      try context.save()
      return (saved, deleted)
    }
    for (token, values) in saved {
      for (name, value) in values { store.saved[token, default: [:]][name, default: []].append(value) }
    }
    store.excused.formUnion(deleted)
  }

  func fetch(_ store: ProgramStore, _ random: inout SplitMix64) throws {
    let request = Self.request(&random)
    request.value.freshness =
      [
        .cached, .refreshing(ifOlderThan: 0), .refreshing(ifOlderThan: 1000),
        .waiting(ifOlderThan: 0, timeLimit: 1000), .fromService(timeLimit: 1000),
      ].randomElement(using: &random) ?? .cached
    do {
      _ = try perform(store) { context in try context.fetch(request.value).count }
    } catch let error where Self.isRemote(error) {
      count("failed fetch")
    }
  }

  func traverse(_ store: ProgramStore, _ random: inout SplitMix64) throws {
    let seed = random.next()
    try perform(store) { context in
      var random = SplitMix64(seed: seed)
      let (entity, name) = [("User", "assigned"), ("Tag", "bugs"), ("Bug", "tags")][Int(random.next() % 3)]
      let object = try self.changeable(entity, store, context).randomElement(using: &random)
      _ = (object?.value(forKey: name) as? Set<NSManagedObject>)?.count
    }
  }

  /// A fetch of one of the lists of the service, or of what it has no list for.
  static func request(_ random: inout SplitMix64) -> Unchecked<NSFetchRequest<NSManagedObject>> {
    let entity = ["Bug", "Bug", "Bug", "User", "Tag"].randomElement(using: &random) ?? "Bug"
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    guard entity == "Bug" else { return Unchecked(request) }
    switch Int.random(in: 0..<5, using: &random) {
    case 0: request.predicate = NSPredicate(format: "state == %@", ["open", "closed"][Int(random.next() % 2)])
    case 1: request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    case 2:
      request.predicate = NSPredicate(format: "priority > 2")
      request.fetchLimit = 2
    default: break
    }
    return Unchecked(request)
  }

  static func all(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.freshness = .cached
    // Pending changes have identifiers that differ from run to run; numbers of rows do not matter.
    return try context.fetch(request).sorted {
      $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
    }
  }

  /// The objects that have values to change.
  private func changeable(
    _ entity: String, _ store: ProgramStore, _ context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    try Self.all(entity, context).filter {
      $0.objectID.isTemporaryID || store.store.isLoaded($0.objectID)
    }
  }

  static func remote(_ value: Any?) -> RemoteValue {
    switch value {
    case let text as String: .string(text)
    case let number as Int64: .integer(number)
    case let number as NSNumber: .integer(number.int64Value)
    default: .null
    }
  }

  /// A word that no other change has; rarely one that the service refuses.
  private func word(_ random: inout SplitMix64) -> String {
    "\(Int.random(in: 0..<15, using: &random) == 0 ? "forbidden" : "word") \(nextSerial())"
  }
}
