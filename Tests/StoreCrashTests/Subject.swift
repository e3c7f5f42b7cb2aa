import Cairn
import CairnIncrementalStore
import CairnSimulation
import OpenCoreData

/// A Core Data store on a simulated machine, and a context that works with it.
final class Subject {
  let store: SimulatedStore
  let context: NSManagedObjectContext
  private let coordinator: NSPersistentStoreCoordinator
  private let machine: SimulatedMachine
  /// The objects that the context has seen since it was reset.
  private var objects: [Int: NSManagedObject] = [:]

  init(_ machine: SimulatedMachine, _ model: NSManagedObjectModel, isDurable: Bool = true) throws {
    self.machine = machine
    NSPersistentStoreCoordinator.registerStoreClass(
      SimulatedStore.self, forStoreType: SimulatedStore.storeType)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let added = try coordinator.addPersistentStore(
      ofType: SimulatedStore.storeType, configurationName: nil, at: URL(filePath: "/simulated store"),
      options: [
        SimulatedStore.machineOption: machine, CairnDurabilityOption: isDurable ? "durable" : "buffered",
        RowCacheBytesOption: 4000, BuildsIndexesFirstOption: NSNumber(value: true),
      ])
    guard let store = added as? SimulatedStore else { throw CrashFailure("a store of another class was added") }
    self.store = store
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  func close() throws {
    perform { $0.reset() }
    objects = [:]
    try coordinator.remove(store)
    machine.scheduler.drain()
  }

  func perform<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    try context.performAndWait { try body(context) }
  }

  // MARK: Things

  /// Gives the identifier of a thing that the context has not seen since it was reset.
  typealias Locate = (Int) -> URL?

  func insert(_ serial: Int, isSpecial: Bool) {
    perform { context in
      let object = NSEntityDescription.insertNewObject(forEntityName: isSpecial ? "Special" : "Thing", into: context)
      object.setValue(serial, forKey: "serial")
      objects[serial] = object
    }
  }

  func object(_ serial: Int, _ locate: Locate) throws -> NSManagedObject {
    if let object = objects[serial] { return object }
    guard let id = locate(serial).flatMap({ coordinator.managedObjectID(forURIRepresentation: $0) }) else {
      throw CrashFailure("the thing \(serial) cannot be found")
    }
    let object = context.object(with: id)
    objects[serial] = object
    return object
  }

  /// Gives permanent identifiers to all new objects, and returns the identifiers.
  func obtainIdentifiers() throws -> [(serial: Int, uri: URL)] {
    try perform { context in
      let new = context.insertedObjects
      try context.obtainPermanentIDs(for: Array(new))
      return new.map { ($0.value(forKey: "serial") as? Int ?? 0, $0.objectID.uriRepresentation()) }
    }
  }

  func set(_ serial: Int, _ key: String, _ value: Any?) throws {
    try perform { _ in try object(serial) { _ in nil }.setValue(value, forKey: key) }
  }

  func uri(of serial: Int) throws -> URL {
    try perform { _ in try object(serial) { _ in nil }.objectID.uriRepresentation() }
  }

  func save() throws { try perform { try $0.save() } }

  /// Takes identifiers from the row store that belong to no object yet; returns their numbers.
  func takeNumbers(_ count: Int) throws -> [Int64] {
    try (store.rowStore?.reserveReferences(count) ?? []).map { reference in
      guard case .integer(let number) = reference else { throw CrashFailure("\(reference) is no number") }
      return number
    }
  }

  func reset() {
    perform { $0.reset() }
    objects = [:]
  }

  // MARK: Reading

  /// All saved things, as Core Data reads them.
  func graph(_ serials: [Int64: Int]) throws -> Graph {
    try perform { context in
      defer { reset() }
      var graph: Graph = [:]
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")) {
        guard let serial = object.value(forKey: "serial") as? Int else { throw CrashFailure("a thing has no number") }
        graph[serial] = try row(of: object, serials)
      }
      return graph
    }
  }

  private func row(of object: NSManagedObject, _ serials: [Int64: Int]) throws -> GraphRow {
    var row = GraphRow(isSpecial: object.entity.name == "Special")
    row.reference = try Self.reference(object.objectID.uriRepresentation())
    for attribute in Attribute.allCases where row.isSpecial || !attribute.isSpecial {
      switch object.value(forKey: attribute.rawValue) {
      case let text as String: row[attribute] = .text(text)
      case let number as Int64: row[attribute] = .number(number)
      default: break
      }
    }
    for relation in Relation.allCases {
      let related: [Any] =
        switch object.value(forKey: relation.rawValue) {
        case let one as NSManagedObject: [one]
        case let set as NSOrderedSet: set.array
        case let set as NSSet: set.allObjects
        default: []
        }
      row[relation] = try related.map { other in
        guard let other = other as? NSManagedObject,
          let serial = serials[try Self.reference(other.objectID.uriRepresentation())]
        else { throw CrashFailure("\(relation) has something that nobody has put there: \(other)") }
        return serial
      }
    }
    return row
  }

  /// The number at the end of an identifier.
  static func reference(_ uri: URL) throws -> Int64 {
    guard let number = Int64(uri.lastPathComponent.dropFirst()) else { throw CrashFailure("\(uri) has no number") }
    return number
  }

  func count(_ entity: String, _ predicate: NSPredicate? = nil, includesSubentities: Bool = true) throws -> Int {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    request.includesSubentities = includesSubentities
    return try perform { try $0.count(for: request) }
  }
}
