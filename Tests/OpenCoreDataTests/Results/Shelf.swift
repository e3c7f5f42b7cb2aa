import CairnIncrementalStore
import Foundation
import OpenCoreData

/// A coordinator with one store of things on shelves.
struct Shelf {
  enum Kind: String, CaseIterable {
    case memory, rows, cairn
  }

  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())

  init(_ kind: Kind = .memory, at url: URL = URL(filePath: "/dev/null")) throws {
    switch kind {
    case .memory: _ = try coordinator.addPersistentStore(type: .inMemory, at: url)
    case .rows:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(ofType: TestRowStore.storeType, configurationName: nil, at: url)
    case .cairn:
      CairnIncrementalStore.register()
      _ = try coordinator.addPersistentStore(type: .cairn, at: url, options: [CairnDurabilityOption: "buffered"])
    }
  }

  func makeContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Runs a closure with a new context.
  func work<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    let context = makeContext()
    return try context.performAndWait { try body(context) }
  }

  func close() { for store in coordinator.persistentStores { try? coordinator.remove(store) } }

  /// A `Thing` has a name, a rank, a kind and a box, a `Toy` is a thing, and a `Box` has a label and things.
  static func model() -> NSManagedObjectModel {
    let (thing, toy, box) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (thing.name, toy.name, box.name) = ("Thing", "Toy", "Box")
    let (things, ofThing) = (relationship("things", to: thing), relationship("box", to: box, isToMany: false))
    connect(things, ofThing)
    thing.properties = [
      attribute("name", .string), attribute("rank", .integer16, defaultValue: 0), attribute("kind", .string),
      attribute("isHidden", .boolean, defaultValue: false), ofThing,
    ]
    thing.subentities = [toy]
    toy.properties = [attribute("age", .integer16)]
    box.properties = [attribute("label", .string), things]
    let model = NSManagedObjectModel()
    model.entities = [thing, toy, box]
    return model
  }

  /// A request for things.
  static func request(
    _ format: String? = nil, by keys: String..., entity: String = "Thing"
  ) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = keys.map { key in
      NSSortDescriptor(key: key.hasPrefix("-") ? String(key.dropFirst()) : key, ascending: !key.hasPrefix("-"))
    }
    return request
  }
}

extension NSManagedObjectContext {
  @discardableResult
  func put(_ name: String, _ values: [String: Any] = [:], entity: String = "Thing") -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    object[entity == "Box" ? "label" : "name"] = name
    for (key, value) in values { object[key] = value }
    return object
  }
}

extension NSFetchedResultsController where ResultType == NSManagedObject {
  /// A controller that has fetched, and tells a list on the screen of its changes.
  convenience init(
    _ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext, sections path: String? = nil,
    on list: ListOnScreen? = nil
  ) throws {
    self.init(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path, cacheName: nil)
    delegate = list
    try performFetch()
    list?.load(self)
  }

  /// The names of the results in each section.
  var shown: String {
    ListOnScreen.content(self).map { section in
      let names = section.rows.map { $0.object["name"] as? String ?? "nil" }.joined(separator: " ")
      return sectionNameKeyPath == nil ? names : "\(section.name): \(names)"
    }.joined(separator: ", ")
  }
}
