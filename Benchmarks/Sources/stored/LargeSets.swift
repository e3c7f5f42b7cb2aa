import CairnIncrementalStore
import OpenCoreData

/// Large saves and large relationships at several sizes. Where the work is linear, the figures for one object are equal
/// at all sizes.
struct LargeSets {
  let sizes: [Int]
  private let url: URL

  init(sizes: [Int], at url: URL) {
    self.sizes = sizes
    self.url = url
  }

  func measure(into table: inout FigureTable) throws {
    for size in sizes {
      try measure("\(size) plain objects", into: &table) { try plain(size, $0, $1) }
      try measure("\(size) members", into: &table) { try members(size, isOrdered: false, $0, $1) }
      try measure("\(size) ordered members", into: &table) { try members(size, isOrdered: true, $0, $1) }
    }
  }

  private typealias Report = (_ what: String, _ each: Double) -> Void

  /// Runs a measurement on a store and in a context of its own.
  private func measure(
    _ title: String, into table: inout FigureTable, _ body: (NSManagedObjectContext, Report) throws -> Void
  ) throws {
    try withNewStore(at: url, Self.model()) { context in
      try body(context) { table.add("\(title), \($0)", [$1], "ns") }
    }
  }

  private func plain(_ size: Int, _ context: NSManagedObjectContext, _ report: Report) throws {
    let (objects, made) = time(size) {
      (0..<size).map { number in
        let object = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
        object.setValue(number, forKey: "number")
        return object
      }
    }
    report("made", made)
    report("saved", try time(size) { try context.save() }.each)
    report("deleted", time(size) { objects.forEach(context.delete) }.each)
    report("saved again", try time(size) { try context.save() }.each)
  }

  private func members(_ size: Int, isOrdered: Bool, _ context: NSManagedObjectContext, _ report: Report) throws {
    let whole = NSEntityDescription.insertNewObject(forEntityName: "Whole", into: context)
    let key = isOrdered ? "list" : "parts"
    let set = whole.mutableSetValue(forKey: key)
    var list = isOrdered ? whole.mutableOrderedSetValue(forKey: key) : nil
    let (added, made) = time(size) {
      (0..<size).map { _ in
        let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
        if let list { list.add(part) } else { set.add(part) }
        return part
      }
    }
    report("made and added", made)
    var parts = added
    report("saved", try time(size) { try context.save() }.each)
    if let list {
      report("reversed", time(size) { whole.setValue(NSOrderedSet(array: list.array.reversed()), forKey: "list") }.each)
      report("saved reversed", try time(size) { try context.save() }.each)
      let first: [NSManagedObject] = parts.suffix(1000).reversed()
      report(
        "1000 removed from the front of the ordered set",
        time(first.count) { for part in first { list.remove(part) } }.each)
      for part in first { list.add(part) }
      parts = first.reversed() + parts.dropLast(1000)
    }
    list = nil
    let front: [NSManagedObject] = isOrdered ? parts.suffix(size / 2).reversed() : Array(parts.prefix(size / 2))
    report("half removed one by one from the front", time(front.count) { for part in front { set.remove(part) } }.each)
    report("saved with half", try time(front.count) { try context.save() }.each)
    let rest = isOrdered ? whole.mutableOrderedSetValue(forKey: key) : nil
    report(
      "the rest removed at once",
      time(size - front.count) { if let rest { rest.removeAllObjects() } else { set.removeAllObjects() } }.each)
    report("saved empty", try time(size - front.count) { try context.save() }.each)
  }

  private static func model() -> NSManagedObjectModel {
    let (whole, part) = (NSEntityDescription(), NSEntityDescription())
    (whole.name, part.name) = ("Whole", "Part")
    let number = NSAttributeDescription()
    (number.name, number.attributeType) = ("number", .integer64AttributeType)
    func pair(_ name: String, _ inverse: String, isOrdered: Bool) -> (
      NSRelationshipDescription, NSRelationshipDescription
    ) {
      let (many, one) = (NSRelationshipDescription(), NSRelationshipDescription())
      (many.name, many.destinationEntity, many.maxCount, many.isOrdered) = (name, part, 0, isOrdered)
      (one.name, one.destinationEntity, one.maxCount) = (inverse, whole, 1)
      (many.inverseRelationship, one.inverseRelationship) = (one, many)
      return (many, one)
    }
    let (parts, owner) = pair("parts", "owner", isOrdered: false)
    let (list, lister) = pair("list", "lister", isOrdered: true)
    whole.properties = [parts, list]
    part.properties = [number, owner, lister]
    let model = NSManagedObjectModel()
    model.entities = [whole, part]
    return model
  }
}

/// Runs `body` in a context over a new store on Cairn, buffered, and removes the store.
func withNewStore(
  at url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void
) throws {
  defer { try? FileManager.default.removeItem(at: url) }
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  CairnIncrementalStore.register()
  let store = try coordinator.addPersistentStore(type: .cairn, at: url, options: [CairnDurabilityOption: "buffered"])
  let context = NSManagedObjectContext(.privateQueue)
  context.persistentStoreCoordinator = coordinator
  try context.performAndWait { try body(context) }
  try coordinator.remove(store)
}
