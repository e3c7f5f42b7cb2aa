public import Foundation

/// A store that is read as a whole when it is added, and written as a whole with each save: a file in a format of the
/// application's. Memory holds all of its objects.
///
/// A subclass overrides ``NSPersistentStore/loadMetadata()``, ``load()``, ``newReferenceObject(for:)``,
/// ``newCacheNode(for:)``, ``updateCacheNode(_:from:)`` and ``save()``, and is registered with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``. Fetches, uniqueness constraints and the detection of
/// conflicts are those of the store in memory; batch requests are refused. The store does not notice if somebody else
/// changes the file: its next save replaces these changes.
///
/// Apple's class is no ``NSIncrementalStore``. Here it is one, because every store is, and its methods are final.
///
/// All methods are called by one thread at a time, on whichever thread needs the result.
open class NSAtomicStore: NSIncrementalStore {
  private var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
  private lazy var content = AtomicContent(of: self)

  /// Called by coordinators only. A subclass that overrides it marks it as required.
  public required init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    super.init(
      persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
  }

  // MARK: Loading

  /// Reads all objects, and registers a node for each of them with ``addCacheNodes(_:)``. Called once, when the store
  /// is added, after ``NSPersistentStore/loadMetadata()``.
  ///
  /// - Throws: The reason why the store cannot be read; it is then not added.
  open func load() throws { abstract() }

  /// Registers nodes with the store. Call this in ``load()`` only.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes { nodes[node.objectID] = node }
  }

  /// All nodes, in no particular order.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

  /// The node of an object; nil if the store does not have the object.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

  // MARK: Saving

  /// A new node with the values of an object that is being inserted. The nodes of other new objects may not exist yet,
  /// but ``updateCacheNode(_:from:)`` is called for each new object once they all do.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode { abstract() }

  /// Sets the values of a node to those of its object, which is being inserted or changed.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) { abstract() }

  /// Called before the nodes of deleted objects leave the store. Does nothing unless a subclass overrides it.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  /// Writes the metadata and all nodes. Called for each save, after the nodes were changed.
  ///
  /// - Throws: The reason why nothing was written. The nodes then get the values back that they had before the save.
  open func save() throws { abstract() }

  /// Changes the nodes as a save has changed its objects, and writes all nodes.
  fileprivate func write(_ objects: [NSManagedObject], deleted: [NSManagedObjectID]) throws {
    let former = nodes
    let leaving = Set(deleted.compactMap { nodes[$0] })
    let owners = owners(of: leaving)
    let touched = objects.compactMap { nodes[$0.objectID] } + leaving + owners
    let caches = touched.map { $0.propertyCache?.mutableCopy() as? NSMutableDictionary }
    for object in objects where nodes[object.objectID] == nil {
      let node = newCacheNode(for: object)
      require(
        node.objectID == object.objectID, "\(Swift.type(of: self)) has made a node of \(node.objectID) for \(object).")
      nodes[object.objectID] = node
    }
    for object in objects {
      if let node = nodes[object.objectID] { updateCacheNode(node, from: object) }
    }
    for owner in owners { owner.leave(leaving) }
    willRemoveCacheNodes(leaving)
    for id in deleted { nodes[id] = nil }
    do {
      try save()
    } catch {
      nodes = former
      for (node, cache) in zip(touched, caches) { node.propertyCache = cache }
      throw error
    }
  }

  /// The nodes that lead to others by a relationship without an inverse: a save does not name them if it deletes these.
  private func owners(of others: Set<NSAtomicStoreCacheNode>) -> [NSAtomicStoreCacheNode] {
    guard !others.isEmpty else { return [] }
    return nodes.values.filter { node in
      node.relationshipsWithoutInverse.contains { node.isRelated(by: $0.name, to: others) }
    }
  }

  // MARK: Identifiers

  /// A value by which the store is going to refer to an object: a string or a whole number that it has never used.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any { abstract() }

  /// The identifier of the object to which the store refers by a value. May be called on any thread.
  open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
    newObjectID(for: entity, referenceObject: data)
  }

  /// The value by which the store refers to an object: an `NSNumber` if it was a whole number, otherwise a string. May
  /// be called on any thread.
  open override func referenceObject(for objectID: NSManagedObjectID) -> Any { super.referenceObject(for: objectID) }

  // MARK: For the coordinator

  /// Call this once, when the metadata are loaded.
  final func fill() throws {
    try load()
    try content.fill(nodes)
  }

  public final override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    guard request is NSFetchRequest<NSManagedObject> || request is NSSaveChangesRequest else {
      throw CoreDataError.make(
        NSPersistentStoreUnsupportedRequestTypeError,
        "Atomic stores support fetch and save requests, not \(Swift.type(of: request)).")
    }
    return try content.execute(request, with: context)
  }

  public final override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode { try content.newValuesForObject(with: objectID, with: context) }

  public final override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try content.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
  }

  public final override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { objectID(for: $0.entity, withReferenceObject: newReferenceObject(for: $0)) }
  }
}

/// The rows of an atomic store.
private final class AtomicContent: InMemoryStore {
  private unowned let owner: NSAtomicStore

  init(of owner: NSAtomicStore) {
    self.owner = owner
    super.init(persistentStoreCoordinator: nil, configurationName: nil, at: nowhere, options: nil)
  }

  required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) { fatalError("The rows of an atomic store are made by that store.") }

  func fill(_ nodes: [NSManagedObjectID: NSAtomicStoreCacheNode]) throws {
    let read = try nodes.values.map { node in
      InMemoryRow(node.objectID, layout(of: node.objectID.entity), try values(of: node, nodes), in: rows)
    }
    try super.save(read.map { (nil, $0) }, locked: [], deleted: [])
  }

  /// The values of a node in the form of a row.
  private func values(
    of node: NSAtomicStoreCacheNode, _ nodes: [NSManagedObjectID: NSAtomicStoreCacheNode]
  ) throws -> [Any?] {
    func damage(_ property: NSPropertyDescription, _ complaint: String) -> NSError {
      CoreDataError.make(
        NSPersistentStoreOpenError,
        "\(Swift.type(of: owner)) has loaded \(node.objectID), whose \(property.name) \(complaint).")
    }
    return try layout(of: node.objectID.entity).properties.map { property in
      let value = node.value(forKey: property.name)
      guard let relationship = property as? NSRelationshipDescription else {
        guard let attribute = property as? NSAttributeDescription, ManagedValue(ifFit: value, for: attribute) != nil
        else { throw damage(property, "has a value of another type: \(value ?? "")") }
        return value
      }
      let related = try node.related(by: property.name).map { other -> NSManagedObjectID in
        guard let other = other as? NSAtomicStoreCacheNode, nodes[other.objectID] === other else {
          throw damage(property, "leads to an object that was not loaded")
        }
        return other.objectID
      }
      return relationship.isToMany ? related : related.first
    }
  }

  override func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    owner.objectID(for: entity, withReferenceObject: data)
  }

  override func save(
    _ changed: [(object: NSManagedObject?, row: InMemoryRow)], locked: [InMemoryRow], deleted: [NSManagedObjectID]
  ) throws {
    let ids = changed.map(\.row.objectID)
    let former = (ids + locked.map(\.objectID) + deleted).compactMap { rows[$0] }
    let inserted = ids.filter { rows[$0] == nil }
    try super.save(changed, locked: locked, deleted: deleted)
    do {
      try owner.write(changed.compactMap(\.object), deleted: deleted)
    } catch {
      try super.save(former.map { (nil, $0) }, locked: [], deleted: inserted)
      throw error
    }
  }
}

extension NSAtomicStoreCacheNode {
  fileprivate var relationshipsWithoutInverse: [NSRelationshipDescription] {
    let layout = objectID.entity.layout
    return layout.withoutInverse.compactMap { layout.slots[$0].relationship }
  }

  /// What the node has for a relationship: nodes, unless the subclass is mistaken.
  fileprivate func related(by name: String) -> [Any] {
    switch value(forKey: name) {
    case nil, is NSNull: []
    case let set as NSOrderedSet: set.array
    case let set as NSSet: set.allObjects
    case let set as Set<NSAtomicStoreCacheNode>: Array(set)
    case let array as [Any]: array
    case let value?: [value]
    }
  }

  fileprivate func isRelated(by name: String, to others: Set<NSAtomicStoreCacheNode>) -> Bool {
    related(by: name).contains { ($0 as? NSAtomicStoreCacheNode).map(others.contains) == true }
  }

  /// Removes nodes from relationships without an inverse.
  fileprivate func leave(_ others: Set<NSAtomicStoreCacheNode>) {
    for relationship in relationshipsWithoutInverse {
      guard isRelated(by: relationship.name, to: others) else { continue }
      let rest = related(by: relationship.name).filter { ($0 as? NSAtomicStoreCacheNode).map(others.contains) != true }
      // In the form that the subclass has chosen.
      let value: Any? =
        switch value(forKey: relationship.name) {
        case is NSOrderedSet: NSOrderedSet(array: rest)
        case is NSSet, is Set<NSAtomicStoreCacheNode>: NSSet(array: rest)
        case is [Any]: rest
        default: nil
        }
      setValue(value, forKey: relationship.name)
    }
  }
}
