import OpenCoreData

/// Nodes with every kind of relationship, in a context with an undo manager, and what can be seen of them.
final class UndoGraph {
  struct Relationship: Hashable, Sendable, CustomStringConvertible {
    let name: String
    let isToMany: Bool
    let isOrdered: Bool
    /// Whether it may refer to deleted objects.
    var mayDangle = false

    var description: String { name }
  }

  /// Relationships without an inverse. No delete rule nullifies the first.
  private static let oneWay = [
    Relationship(name: "idol", isToMany: false, isOrdered: false, mayDangle: true),
    Relationship(name: "watched", isToMany: true, isOrdered: false),
    Relationship(name: "queue", isToMany: true, isOrdered: true),
  ]
  static let relationships =
    GraphProperty.relationships.map {
      Relationship(
        name: $0.rawValue, isToMany: $0.isToMany, isOrdered: $0.isOrdered,
        mayDangle: [.subject, .remarks, .warden, .wards].contains($0))
    } + oneWay

  let context: NSManagedObjectContext
  let manager = UndoManager()
  private let coordinator: NSPersistentStoreCoordinator
  private let url = URL(filePath: "/nowhere/\(UUID().uuidString)")
  /// All objects that were ever inserted.
  private var objects: [NSManagedObject] = []

  /// Makes a context with some saved objects, which are faults.
  ///
  /// - Parameter mayDangle: whether a relationship that may refer to deleted objects has an object.
  init(_ type: String, mayDangle: Bool) throws {
    NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    _ = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<3 { insert() }
      objects[0].setValue(objects[1], forKey: "parent")
      objects[2].setValue(objects[1], forKey: "parent")
      objects[0].setValue(objects[2], forKey: "head")
      objects[1].setValue(objects[2], forKey: "head")
      if mayDangle { objects[1].setValue(objects[0], forKey: "subject") }
      objects[1].setValue(NSOrderedSet(array: objects), forKey: "members")
      objects[0].setValue(NSOrderedSet(array: [objects[2], objects[1]]), forKey: "queue")
      try context.save()
      context.refreshAllObjects()
      context.undoManager = manager
    }
  }

  deinit { TestRowStore.forget(url) }

  private static func model() -> NSManagedObjectModel {
    let model = GraphProperty.makeModel()
    guard let node = model.entitiesByName["Node"] else { return model }
    let mood = attribute("mood", .integer64)
    mood.isTransient = true
    node.properties +=
      [mood]
      + oneWay.map { one in
        relationship(one.name, to: node, isToMany: one.isToMany) { $0.isOrdered = one.isOrdered }
      }
    return model
  }

  // MARK: Changing

  func apply(_ operations: [UndoProgram.Operation]) {
    for operation in operations { apply(operation) }
  }

  private func insert() {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
    object.setValue(objects.count, forKey: "serial")
    objects.append(object)
  }

  /// An object that is in the context and not deleted.
  private func present(_ x: Int) -> NSManagedObject? {
    guard objects.indices.contains(x), objects[x].managedObjectContext != nil, !objects[x].isDeleted else { return nil }
    return objects[x]
  }

  private func apply(_ operation: UndoProgram.Operation) {
    switch operation {
    case .insert: insert()
    case .number(let x, let number): present(x)?.setValue(number, forKey: "number")
    case .primitiveNumber(let x, let number):
      guard let object = present(x) else { return }
      object.willChangeValue(forKey: "number")
      object.setPrimitiveValue(number, forKey: "number")
      object.didChangeValue(forKey: "number")
    case .mood(let x, let mood): present(x)?.setValue(mood, forKey: "mood")
    case .relate(let x, let relationship, let others):
      let others = NSOrderedSet(array: others.compactMap(present))
      let value: Any? =
        relationship.isOrdered ? others : relationship.isToMany ? NSSet(array: others.array) : others.array.first
      present(x)?.setValue(value, forKey: relationship.name)
    case .add(let x, let relationship, let y): changeMembers(x, relationship, y, add: true)
    case .remove(let x, let relationship, let y): changeMembers(x, relationship, y, add: false)
    case .move(let x, let relationship, let from, let to):
      guard let members = present(x)?.mutableOrderedSetValue(forKey: relationship.name),
        max(from, to) < members.count
      else { return }
      members.moveObjects(at: IndexSet(integer: from), to: to)
    case .delete(let x): if let object = present(x) { context.delete(object) }
    case .revive(let x):
      guard objects.indices.contains(x), objects[x].managedObjectContext != nil, objects[x].isDeleted else { return }
      context.insert(objects[x])
    case .read(let x):
      for relationship in Self.relationships { _ = present(x)?.value(forKey: relationship.name) }
    }
  }

  private func changeMembers(_ x: Int, _ relationship: Relationship, _ y: Int, add: Bool) {
    guard let owner = present(x), let other = present(y) else { return }
    if relationship.isOrdered {
      let members = owner.mutableOrderedSetValue(forKey: relationship.name)
      if add { members.add(other) } else { members.remove(other) }
    } else {
      let members = owner.mutableSetValue(forKey: relationship.name)
      if add { members.add(other) } else { members.remove(other) }
    }
  }

  // MARK: Looking

  struct State: Equatable {
    /// The values of the objects in the context, by their numbers.
    var values: [Int: [String: String]]
    var inserted: Set<Int>
    var updated: Set<Int>
    var deleted: Set<Int>
  }

  /// What can be seen of the graph. References to deleted objects are left out.
  func state() -> State {
    var values: [Int: [String: String]] = [:]
    for x in objects.indices { if let object = present(x) { values[x] = self.values(object) } }
    return State(
      values: values, inserted: numbers(context.insertedObjects),
      updated: numbers(context.updatedObjects.filter(differs)),
      deleted: numbers(context.deletedObjects))
  }

  /// Whether an object differs from its row. An object counts as updated, too, if changes have cancelled each other out.
  private func differs(_ object: NSManagedObject) -> Bool {
    object.changedValues().contains { key, value in
      key != "mood" && value as? NSObject != object.committedValues(forKeys: [key])[key] as? NSObject
    }
  }

  private func values(_ object: NSManagedObject, isStored: Bool = false) -> [String: String] {
    var values: [String: String] = [:]
    for key in isStored ? ["number", "text"] : ["number", "text", "mood"] {
      values[key] = object.value(forKey: key).map { "\($0)" } ?? "nil"
    }
    for relationship in Self.relationships {
      let related: [Any] =
        switch object.value(forKey: relationship.name) {
        case let members as NSOrderedSet: members.array
        case let members as NSSet: members.allObjects
        case let other?: [other]
        case nil: []
        }
      let numbers = related.compactMap { $0 as? NSManagedObject }
        .filter { $0.managedObjectContext != nil && !$0.isDeleted }.map(number).filter { $0 >= 0 }
      values[relationship.name] = "\(relationship.isOrdered ? numbers : numbers.sorted())"
    }
    return values
  }

  private func number(_ object: NSManagedObject) -> Int {
    (object.value(forKey: "serial") as? Int64).map(Int.init) ?? -1
  }

  private func numbers(_ objects: Set<NSManagedObject>) -> Set<Int> { Set(objects.map(number)) }

  /// What is saved, as another context reads it, without what is left of deleted objects.
  func saved() throws -> [Int: [String: String]] {
    let reader = NSManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = coordinator
    return try reader.performAndWait {
      let objects = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node"))
      return Dictionary(uniqueKeysWithValues: objects.map { (number($0), values($0, isStored: true)) })
    }
  }
}
