import OpenCoreData
import Testing

/// A random program in which somebody follows a store by its history only, while others save, delete history, save
/// without history, and put earlier states of the store back.
///
/// The follower keeps a replica of all objects, and its token as an archive, in which both outlive every restart. When
/// its token has expired it begins anew. Another follower is a context, which merges the transactions.
struct FollowerProgram {
  typealias Values = [String: Set<String>]

  private let store: TrackedStore
  private var random: SeededGenerator
  private var writers: [NSManagedObjectContext] = []
  private var untracked: NSManagedObjectContext?
  private var reader: NSManagedObjectContext
  private var known: [NSManagedObject] = []
  private var readerToken: NSPersistentHistoryToken?
  private var replica: [URL: Values] = [:]
  private var archive: Data?
  private var tokens: [NSPersistentHistoryToken] = []
  private var backup: URL
  /// How often the token of the replica had expired.
  private(set) var expirations = 0
  private var serial = 0

  /// Returns how often a token had expired.
  static func run(seed: UInt64, _ kind: TrackedStore.Kind) throws -> Int {
    var program = try FollowerProgram(SeededGenerator(seed: seed), kind)
    defer { try? FileManager.default.removeItem(at: program.backup) }
    for step in 0..<60 {
      do { try program.step() } catch { throw GraphMismatch("step \(step): \(error)") }
    }
    try program.store.check()
    return program.expirations
  }

  private init(_ random: SeededGenerator, _ kind: TrackedStore.Kind) throws {
    self.random = random
    store = TrackedStore(kind)
    backup = store.url.appendingPathExtension("backup")
    reader = try store.open()
    writers = [try store.open(), try store.open()]
    for writer in writers { writer.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
    archive = try archived(reader.token)
    try follow()
  }

  private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[chance(elements.count)]
  }

  // MARK: Steps

  private mutating func step() throws {
    switch chance(100) {
    case 0..<60: try write(writers[chance(2)])
    case 60..<68: try batch(writers[chance(2)])
    case 68..<85: try follow()
    case 85..<89: try deleteHistory()
    case 89..<92:
      untracked = try untracked ?? store.open(history: false)
      try untracked.map { try write($0) }
    case 92..<96: try restart()
    default: try putBack()
    }
  }

  private mutating func write(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      context.refreshAllObjects()
      context.reset()
      for _ in 0...chance(4) {
        let (items, boxes, tags) = (
          try objects("Item", context), try objects("Box", context), try objects("Tag", context)
        )
        serial += 1
        switch chance(10) {
        case 0..<4:
          let name = ["Item", "Item", "Box", "Tag"][chance(4)]
          let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
          object.setValue("\(serial)", forKey: "name")
          if name == "Item" { object.setValue("c\(serial)", forKey: "code") }
        case 4: pick(items + boxes + tags)?.setValue("\(serial)", forKey: "name")
        case 5, 6: pick(items)?.setValue(chance(4) == 0 ? nil : pick(boxes), forKey: "box")
        case 7: pick(items).map { $0.setValue(Set(tags.filter { _ in chance(3) == 0 }), forKey: "tags") }
        case 8: pick(tags).map { $0.setValue(Set(items.filter { _ in chance(3) == 0 }), forKey: "tagged") }
        default: pick(items + boxes + tags).map(context.delete)
        }
      }
      try context.save()
    }
    context.token.map { tokens.append($0) }
  }

  private func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  private mutating func batch(_ context: NSManagedObjectContext) throws {
    serial += 1
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
    fetch.predicate = NSPredicate(format: "name ENDSWITH %@", "\(chance(10))")
    try context.performAndWait {
      switch chance(3) {
      case 0:
        _ = try context.execute(
          NSBatchInsertRequest(entityName: "Item", objects: (0..<2).map { ["name": "\(serial).\($0)"] }))
      case 1:
        let update = NSBatchUpdateRequest(entityName: "Item")
        (update.predicate, update.propertiesToUpdate) = (fetch.predicate, ["name": "\(serial)", "code": NSNull()])
        _ = try context.execute(update)
      default: _ = try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      }
    }
  }

  private mutating func deleteHistory() throws {
    let context = writers[chance(2)]
    let request: NSPersistentHistoryChangeRequest =
      if chance(3) == 0 { .deleteHistory(before: .distantFuture) } else { .deleteHistory(before: pick(tokens)) }
    do {
      _ = try context.history(request, .count) as Int
    } catch let error as NSError where error.code == NSPersistentHistoryTokenExpiredError {}
  }

  /// Closes all coordinators, and opens others.
  private mutating func restart(_ body: () throws -> Void = {}) throws {
    for context in writers + [reader] + (untracked.map { [$0] } ?? []) {
      store.close(context.persistentStoreCoordinator)
    }
    try body()
    (known, untracked) = ([], nil)
    reader = try store.open()
    readerToken = nil
    writers = [try store.open(), try store.open()]
    for writer in writers { writer.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
  }

  /// Copies the store, or puts the last copy in its place.
  private mutating func putBack() throws {
    guard store.kind == .cairn else { return }
    let (url, backup, takes) = (store.url, backup, chance(2) == 0)
    try restart {
      let files = FileManager.default
      if takes {
        try? files.removeItem(at: backup)
        try files.copyItem(at: url, to: backup)
      } else if files.fileExists(atPath: backup.path) {
        try files.removeItem(at: url)
        try files.copyItem(at: backup, to: url)
      }
    }
  }

  // MARK: Following

  private mutating func follow() throws {
    let contents = try contents()
    do {
      try followByReplica()
    } catch let error as NSError where error.code == NSPersistentHistoryTokenExpiredError {
      expirations += 1
      archive = try archived(reader.token)
      replica = contents
    }
    try compare(replica, contents, "the replica")
    do {
      try followByContext()
    } catch let error as NSError where error.code == NSPersistentHistoryTokenExpiredError {
      readerToken = nil
    }
    if readerToken == nil {
      let reader = reader
      known = try reader.performAndWait {
        reader.reset()
        return try ["Item", "Box", "Tag"].flatMap { try objects($0, reader) }
      }
      readerToken = reader.token
    }
    let (held, context) = (known, reader)
    let seen = context.performAndWait {
      Dictionary(
        uniqueKeysWithValues: held.filter { !$0.isDeleted }.map {
          ($0.objectID.uriRepresentation(), Self.values(of: $0))
        })
    }
    try compare(seen, contents, "the context")
  }

  private mutating func followByReplica() throws {
    let token = try archive.flatMap {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: $0)
    }
    let found: [NSPersistentHistoryTransaction] = try reader.history(.fetchHistory(after: token))
    guard let last = found.last else { return }
    archive = try archived(last.token)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = reader.persistentStoreCoordinator
    context.stalenessInterval = 0
    var replica = replica
    try context.performAndWait {
      for change in found.flatMap({ $0.changes ?? [] }) {
        let id = change.changedObjectID
        do {
          replica[id.uriRepresentation()] = Self.values(of: try context.existingObject(with: id))
        } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {
          replica[id.uriRepresentation()] = nil
        }
      }
    }
    self.replica = replica
  }

  private mutating func followByContext() throws {
    guard let token = readerToken else { return }
    let found: [NSPersistentHistoryTransaction] = try reader.history(.fetchHistory(after: token))
    readerToken = found.last?.token ?? token
    let (context, held) = (reader, Set(known))
    known += context.performAndWait {
      for transaction in found { context.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
      let new = found.flatMap { $0.changes ?? [] }.filter { $0.changeType == .insert }.compactMap {
        try? context.existingObject(with: $0.changedObjectID)
      }
      return Set(new).subtracting(held)
    }
  }

  private func archived(_ token: NSPersistentHistoryToken?) throws -> Data? {
    try token.map { try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true) }
  }

  // MARK: Contents

  /// What the store has, as a new coordinator reads it.
  private func contents() throws -> [URL: Values] {
    let context = try store.open()
    defer { store.close(context.persistentStoreCoordinator) }
    return try context.performAndWait {
      let all = try ["Item", "Box", "Tag"].flatMap { try objects($0, context) }
      return Dictionary(uniqueKeysWithValues: all.map { ($0.objectID.uriRepresentation(), Self.values(of: $0)) })
    }
  }

  private static func values(of object: NSManagedObject) -> Values {
    func name(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }
    var values: Values = [:]
    for (key, property) in object.entity.propertiesByName {
      switch object.value(forKey: key) {
      case let text as String: values[key] = [text]
      case let object as NSManagedObject: values[key] = [name(object)]
      case let objects as Set<NSManagedObject>: values[key] = Set(objects.map(name))
      case nil: break
      case let other?: fatalError("\(property) has the value \(other).")
      }
    }
    return values
  }

  private func compare(_ one: [URL: Values], _ other: [URL: Values], _ what: String) throws {
    guard one != other else { return }
    let differing = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }
    let first = differing.map(\.absoluteString).sorted().first.flatMap { URL(string: $0) }!
    throw GraphMismatch(
      "\(what) differs in \(differing.count) objects, the first \(first): \(one[first] ?? [:]), and the store has "
        + "\(other[first] ?? [:])")
  }
}
