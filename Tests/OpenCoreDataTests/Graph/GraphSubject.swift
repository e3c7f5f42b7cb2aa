import CairnIncrementalStore
import OpenCoreData

/// What a program found to be wrong.
struct GraphMismatch: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// OpenCoreData as a program uses it: a coordinator with two contexts, and the objects that the program has seen in
/// each.
final class GraphSubject {
  enum Kind: Sendable {
    case memory, incremental, rows, cairn
    /// Over a row store, contexts whose parent is a context, or the child of a context.
    case child, grandchild

    /// Those in which contexts over one store find conflicts.
    static let stores = [memory, incremental, rows, cairn]

    fileprivate var ancestors: Int {
      switch self {
      case .memory, .incremental, .rows, .cairn: 0
      case .child: 1
      case .grandchild: 2
      }
    }
  }

  let contexts: [NSManagedObjectContext]
  /// The contexts above the contexts of the program, the parent last.
  private let ancestors: [NSManagedObjectContext]
  private let coordinator: NSPersistentStoreCoordinator
  private let mailboxes: [Mailbox]
  /// The objects that the program holds.
  private var objects: [[Int: NSManagedObject]] = [[:], [:]]
  private var ids: [Int: NSManagedObjectID] = [:]
  /// The number of each identifier's object, temporary identifiers included.
  private var numbers: [NSManagedObjectID: Int] = [:]

  private let kind: Kind
  private let url = FileManager.default.temporaryDirectory.appending(path: "graph \(UUID().uuidString)")

  init(_ kind: Kind) throws {
    self.kind = kind
    coordinator = try Self.coordinator(kind, url)
    var ancestors: [NSManagedObjectContext] = []
    for _ in 0..<kind.ancestors { ancestors.append(Self.context(ancestors.last, coordinator)) }
    self.ancestors = ancestors
    contexts = ["a", "b"].map { [coordinator] name in
      let context = Self.context(ancestors.last, coordinator)
      context.name = name
      return context
    }
    mailboxes = contexts.map(Mailbox.init)
  }

  deinit {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
    TestRowStore.forget(url)
    try? FileManager.default.removeItem(at: url)
  }

  private static func context(
    _ parent: NSManagedObjectContext?, _ coordinator: NSPersistentStoreCoordinator
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
    return context
  }

  private static func coordinator(_ kind: Kind, _ url: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphProperty.makeModel())
    switch kind {
    case .memory:
      _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    case .incremental:
      NSPersistentStoreCoordinator.registerStoreClass(GraphStore.self, forStoreType: GraphStore.type)
      _ = try coordinator.addPersistentStore(
        ofType: GraphStore.type, configurationName: nil, at: URL(filePath: "/dev/null"))
    case .rows, .child, .grandchild:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(
        ofType: TestRowStore.storeType, configurationName: nil, at: url, options: [RowCacheBytesOption: 2000])
    case .cairn:
      CairnIncrementalStore.register()
      _ = try coordinator.addPersistentStore(
        type: .cairn, at: url, options: [CairnDurabilityOption: "buffered", RowCacheBytesOption: 2000])
    }
    return coordinator
  }

  func perform<Result>(_ c: Int, _ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
    try contexts[c].performAndWait { try body(contexts[c]) }
  }

  // MARK: Objects and numbers

  private func object(_ c: Int, _ x: Int) throws -> NSManagedObject {
    if let object = objects[c][x] { return object }
    guard let id = ids[x] else { throw GraphMismatch("\(x) has no identifier") }
    let object = contexts[c].object(with: id)
    objects[c][x] = object
    return object
  }

  private func number(_ id: NSManagedObjectID) throws -> Int {
    guard let number = numbers[id] else { throw GraphMismatch("\(id) belongs to no object") }
    return number
  }

  /// Returns the number of an object, which the program holds from now on.
  @discardableResult private func hold(_ c: Int, _ object: NSManagedObject) throws -> Int {
    let x = try number(object.objectID)
    if let held = objects[c][x], held !== object { throw GraphMismatch("there are two objects for \(x)") }
    guard object.managedObjectContext === contexts[c] else { throw GraphMismatch("\(x) is in another context") }
    objects[c][x] = object
    return x
  }

  /// Holds those of the numbered objects that the context has registered.
  func hold(_ c: Int, registeredOf numbers: Set<Int>) throws {
    try perform(c) { context in
      for object in context.registeredObjects where numbers.contains(try number(object.objectID)) {
        try hold(c, object)
      }
    }
  }

  private func learnIdentifiers(_ c: Int) {
    for (x, object) in objects[c] where ids[x] != object.objectID {
      ids[x] = object.objectID
      numbers[object.objectID] = x
    }
  }

  // MARK: Steps

  /// Runs a step, and returns its outcome in the terms of the model.
  func apply(_ step: GraphStep) throws -> GraphModel.Outcome {
    let c = step.context
    return try perform(c) { context in
      defer { learnIdentifiers(c) }
      do {
        return try apply(step.operation, c, context)
      } catch let mismatch as GraphMismatch {
        throw mismatch
      } catch let error as NSError {
        guard error.domain == NSCocoaErrorDomain else { throw GraphMismatch("not an error of Core Data: \(error)") }
        return .error(error.code)
      }
    }
  }

  private func apply(
    _ operation: GraphStep.Operation, _ c: Int, _ context: NSManagedObjectContext
  ) throws -> GraphModel.Outcome {
    switch operation {
    case .insert(let x):
      let name = GraphQuery.isLeaf(x) ? "Leaf" : "Node"
      let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      object.setValue(x, forKey: "serial")
      objects[c][x] = object
    case .set(let x, let property, let value): try set(c, x, property, value)
    case .add(let x, let property, let y):
      let (owner, member) = (try object(c, x), try object(c, y))
      if property.isOrdered {
        owner.mutableOrderedSetValue(forKey: property.rawValue).add(member)
      } else {
        owner.mutableSetValue(forKey: property.rawValue).add(member)
      }
    case .remove(let x, let property, let y):
      let (owner, member) = (try object(c, x), try object(c, y))
      if property.isOrdered {
        owner.mutableOrderedSetValue(forKey: property.rawValue).remove(member)
      } else {
        owner.mutableSetValue(forKey: property.rawValue).remove(member)
      }
    case .place(let x, let property, let y, let index): try place(c, x, property, y, index)
    case .delete(let x): context.delete(try object(c, x))
    case .read(let x, let property): return .value(try value(c, try object(c, x), property))
    case .fetch(let query): return try fetch(c, query)
    case .object(let x): try hold(c, try object(c, x))
    case .existingObject(let x):
      guard let id = ids[x] else { return .error(133000) }
      try hold(c, context.existingObject(with: id))
    case .obtainPermanentIDs:
      let inserted = Array(context.insertedObjects)
      try context.obtainPermanentIDs(for: inserted)
      if inserted.contains(where: \.objectID.isTemporaryID) { throw GraphMismatch("an identifier is temporary") }
    case .save: return try save(c, refused: false)
    case .refusedSave: return try save(c, refused: true)
    case .rollback: context.rollback()
    case .reset: try reset(c)
    case .refresh(let x, let mergeChanges): context.refresh(try object(c, x), mergeChanges: mergeChanges)
    case .refreshAll: context.refreshAllObjects()
    case .forget:
      let held = Set(objects[c].keys)
      objects[c] = objects[c].filter { $0.value.hasChanges }
      // Related objects keep each other in the context, so hold those that are still registered.
      for object in context.registeredObjects where held.contains(try number(object.objectID)) { try hold(c, object) }
    case .merge: try merge(c)
    case .policy(let policy): context.mergePolicy = policy.policy
    case .inspect: break
    }
    return .done
  }

  private func set(_ c: Int, _ x: Int, _ property: GraphProperty, _ value: GraphValue) throws {
    let owner = try object(c, x)
    switch value {
    case .number(let number): owner.setValue(number, forKey: property.rawValue)
    case .text(let text): owner.setValue(text, forKey: property.rawValue)
    case .links(let ids):
      let members = try ids.map { try object(c, $0) }
      let new: Any? =
        if property.isOrdered { NSOrderedSet(array: members) } else if property.isToMany {
          NSSet(array: members)
        } else { members.first }
      owner.setValue(new, forKey: property.rawValue)
    }
  }

  private func place(_ c: Int, _ x: Int, _ property: GraphProperty, _ y: Int, _ index: Int) throws {
    let member = try object(c, y)
    let members = try object(c, x).mutableOrderedSetValue(forKey: property.rawValue)
    let old = members.index(of: member)
    if old == NSNotFound {
      members.insert(member, at: min(index, members.count))
    } else {
      members.moveObjects(at: IndexSet(integer: old), to: min(index, members.count - 1))
    }
  }

  private func fetch(_ c: Int, _ query: GraphQuery) throws -> GraphModel.Outcome {
    switch query.result {
    case .count: return .count(try contexts[c].count(for: query.request() as NSFetchRequest<NSManagedObject>))
    case .identifiers:
      let request: NSFetchRequest<NSManagedObjectID> = query.request()
      request.resultType = .managedObjectIDResultType
      return .objects(try contexts[c].fetch(request).map(number))
    case .objects, .realisedObjects:
      let request: NSFetchRequest<NSManagedObject> = query.request()
      request.returnsObjectsAsFaults = query.result == .objects
      return .objects(try contexts[c].fetch(request).map { try hold(c, $0) })
    }
  }

  private func reset(_ c: Int) throws {
    objects[c] = [:]
    contexts[c].reset()
    _ = mailboxes[1 - c].empty()
    guard contexts[c].registeredObjects.isEmpty else { throw GraphMismatch("a reset context has objects") }
  }

  private func save(_ c: Int, refused: Bool) throws -> GraphModel.Outcome {
    let store = coordinator.persistentStores.first as? GraphStore
    store?.refuses = refused
    defer { store?.refuses = false }
    let earlier = mailboxes[c].count
    try contexts[c].save()
    learnIdentifiers(c)
    let notifications = mailboxes[c].all.dropFirst(earlier)
    guard notifications.count <= 1 else { throw GraphMismatch("a save was announced \(notifications.count) times") }
    func numbers(_ key: String) throws -> Set<Int> {
      let objects = notifications.first?.userInfo?[key] as? Set<NSManagedObject> ?? []
      return Set(try objects.map { try number($0.objectID) })
    }
    return .saved(
      GraphPool.Saved(
        inserted: try numbers("inserted"), updated: try numbers("updated"), deleted: try numbers("deleted"))
    )
  }

  private func merge(_ c: Int) throws {
    for notification in mailboxes[1 - c].empty() {
      contexts[c].mergeChanges(fromContextDidSave: notification)
      let deleted = notification.userInfo?["deleted"] as? Set<NSManagedObject> ?? []
      for id in deleted.map(\.objectID) {
        guard let object = objects[c].removeValue(forKey: try number(id)) else { continue }
        if !object.isDeleted { throw GraphMismatch("\(try number(id)) was deleted elsewhere, which was merged") }
      }
    }
  }

  // MARK: Upkeep

  /// Has the ancestors save. Compacts a store on disk, and opens and closes it with another coordinator.
  func maintain() throws {
    try saveAncestors()
    guard kind == .cairn else { return }
    for case let store as CairnIncrementalStore in coordinator.persistentStores { try store.compact() }
    let other = try Self.coordinator(kind, url)
    for store in other.persistentStores { try other.remove(store) }
  }

  /// Closes the store on disk, and opens it again to read its contents. The contexts cannot be used afterwards.
  func savedAfterReopening() throws -> Graph {
    try saveAncestors()
    if kind == .cairn {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    return try saved()
  }

  private func saveAncestors() throws {
    for context in ancestors.reversed() { try context.performAndWait { try context.save() } }
  }

  // MARK: Looking

  private func value(_ c: Int, _ object: NSManagedObject, _ property: GraphProperty) throws -> GraphValue {
    try self.value(c, object.value(forKey: property.rawValue), property)
  }

  /// A value in the terms of the model. The program holds its objects from now on.
  private func value(_ c: Int, _ value: Any?, _ property: GraphProperty) throws -> GraphValue {
    let value = value is NSNull ? nil : value
    switch property {
    case .number:
      guard let number = value as! Int64? else { return .number(nil) }
      return .number(Int(number))
    case .text: return .text(value as! String?)
    default:
      let related: [Any] =
        if property.isOrdered { (value as! NSOrderedSet).array } else if property.isToMany {
          (value as! NSSet).allObjects
        } else { value.map { [$0] } ?? [] }
      return .links(try related.map { try hold(c, $0 as! NSManagedObject) }, of: property)
    }
  }

  func process(_ c: Int) { perform(c) { $0.processPendingChanges() } }

  func observe(_ c: Int) throws -> GraphObservation {
    try perform(c) { context in
      for object in context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects) {
        try hold(c, object)
      }
      // Objects that have left the context by themselves are not held any longer.
      objects[c] = objects[c].filter { $0.value.managedObjectContext != nil }
      func numbers(_ objects: Set<NSManagedObject>) throws -> Set<Int> {
        Set(try objects.map { try number($0.objectID) })
      }
      return GraphObservation(
        registered: try numbers(context.registeredObjects), inserted: try numbers(context.insertedObjects),
        updated: try numbers(context.updatedObjects), deleted: try numbers(context.deletedObjects),
        hasChanges: context.hasChanges, objects: objects[c].mapValues(observe))
    }
  }

  private func observe(_ object: NSManagedObject) -> GraphObservation.Object {
    let unread = GraphProperty.toMany.filter { object.hasFault(forRelationshipNamed: $0.rawValue) }
    return GraphObservation.Object(
      isFault: object.isFault, isInserted: object.isInserted, isUpdated: object.isUpdated, isDeleted: object.isDeleted,
      hasChanges: object.hasChanges, hasPersistentChanges: object.hasPersistentChangedValues, unread: Set(unread))
  }

  /// The changed values of an object, or, if `committed`, its values as they were read.
  func values(_ c: Int, _ x: Int, committed: Bool) throws -> [GraphProperty: GraphValue] {
    try perform(c) { _ in
      let object = try object(c, x)
      let values = committed ? object.committedValues(forKeys: nil) : object.changedValues()
      let known = values.compactMap { key, value in GraphProperty(rawValue: key).map { ($0, value) } }
        .filter { !$0.0.mayDangle }
      return Dictionary(uniqueKeysWithValues: try known.map { ($0, try unheld($1 is NSNull ? nil : $1, $0)) })
    }
  }

  /// Everything that is saved, as a new context reads it.
  ///
  /// A store that several coordinators can open is read by another coordinator. What children have saved is read by
  /// another child.
  func saved() throws -> Graph {
    let reader = kind == .rows || kind == .cairn ? try Self.coordinator(kind, url) : coordinator
    defer {
      if reader !== coordinator {
        for store in reader.persistentStores { try? reader.remove(store) }
      }
    }
    let context = Self.context(ancestors.last, reader)
    return try context.performAndWait {
      var graph: Graph = [:]
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node")) {
        var row = GraphRow(version: 1)
        for property in GraphProperty.allCases {
          row.values[property] = try unheld(object.value(forKey: property.rawValue), property)
        }
        graph[try number(object.objectID)] = row
      }
      return graph
    }
  }

  /// A value in the terms of the model. The program does not hold its objects.
  private func unheld(_ value: Any?, _ property: GraphProperty) throws -> GraphValue {
    switch value {
    case let one as NSManagedObject: .links([try number(one.objectID)])
    case let many as NSOrderedSet: .links(try many.array.map { try number(($0 as! NSManagedObject).objectID) })
    case let many as NSSet:
      .links(try many.allObjects.map { try number(($0 as! NSManagedObject).objectID) }, of: property)
    case nil where property.inverse != nil: .links([])
    case let value:
      property == .number ? .number((value as! Int64?).map(Int.init)) : .text(value as! String?)
    }
  }
}

extension GraphPolicy {
  fileprivate var policy: NSMergePolicy {
    switch self {
    case .error: .error
    case .storeTrump: .mergeByPropertyStoreTrump
    case .objectTrump: .mergeByPropertyObjectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }
}

extension GraphQuery {
  fileprivate func request<Result>() -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: onlyLeaves ? "Leaf" : "Node")
    request.predicate =
      switch condition {
      case .all: nil
      case .numberAtLeast(let least): NSPredicate(format: "number >= %@", least)
      case .numberIsNil: NSPredicate(format: "number == nil")
      case .textIs(let text): NSPredicate(format: "text == %@", text)
      case .hasParent(let has): NSPredicate(format: has ? "parent != nil" : "parent == nil")
      }
    request.sortDescriptors = ["number", "serial"].map { NSSortDescriptor(key: $0, ascending: !isDescending) }
    request.fetchOffset = offset
    request.fetchLimit = limit
    request.includesPendingChanges = includesPendingChanges
    return request
  }
}
