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
    defer { try? FileManager.default.removeItem(at: url) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    CairnIncrementalStore.register()
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url, options: [CairnDurabilityOption: "buffered"])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) { table.add("\(title), \($0)", [$1], "ns") } }
    try coordinator.remove(store)
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
    let set = isOrdered ? nil : whole.mutableSetValue(forKey: "parts")
    let list = isOrdered ? whole.mutableOrderedSetValue(forKey: "list") : nil
    let (parts, made) = time(size) {
      (0..<size).map { _ in
        let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
        set?.add(part)
        list?.add(part)
        return part
      }
    }
    report("made and added", made)
    report("saved", try time(size) { try context.save() }.each)
    if let list {
      report("reversed", time(size) { whole.setValue(NSOrderedSet(array: list.array.reversed()), forKey: "list") }.each)
      report("saved reversed", try time(size) { try context.save() }.each)
    }
    report(
      "half removed one by one from the front",
      time(size / 2) {
        for part in isOrdered ? parts.reversed()[..<(size / 2)] : parts[..<(size / 2)] {
          set?.remove(part)
          list?.remove(part)
        }
      }.each)
    report("saved with half", try time(size / 2) { try context.save() }.each)
    report(
      "the rest removed at once",
      time(size - size / 2) {
        set?.removeAllObjects()
        list?.removeAllObjects()
      }.each)
    report("saved empty", try time(size - size / 2) { try context.save() }.each)
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
