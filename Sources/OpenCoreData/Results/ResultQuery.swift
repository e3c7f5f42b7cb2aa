import Foundation

/// A result with what decides about its place.
struct ResultEntry {
  let object: NSObject
  /// The values of the sort keys, as of the last event that has changed the object; empty if
  /// they are not needed.
  var keys: [PredicateValue] = []
  /// The identifier at that time, by which it is ordered among equal ones; nil for a result that is no managed object.
  var id: NSManagedObjectID?
}

/// The request of a results controller, compiled to find out what an event changes.
struct ResultQuery {
  let request: NSFetchRequest<NSManagedObject>
  let entity: NSEntityDescription
  /// The entities whose objects the predicate, the sort descriptors or the sections read through relationships.
  private let watched: [NSEntityDescription]
  /// Whether it is unknown which objects are read besides.
  private let readsAnything: Bool
  /// Whether it takes a fetch to find out what an event changes.
  let needsFetch: Bool
  private let predicate: CompiledPredicate<NSManagedObject>?
  private let sort: CompiledSort<NSManagedObject>
  private let sections: ValuePath?
  private let equals: IdentifierOrder

  /// - Throws: 134060 if the request cannot be that of a results controller.
  init(
    _ request: NSFetchRequest<NSManagedObject>, sectionNameKeyPath: String?,
    _ coordinator: NSPersistentStoreCoordinator
  ) throws {
    func refusal(_ reason: String) -> NSError { CoreDataError.make(NSCoreDataError, reason) }
    let descriptors = request.sortDescriptors ?? []
    guard !descriptors.isEmpty else {
      throw refusal("The request of a results controller has at least one sort descriptor.")
    }
    guard request.resultType != .countResultType else {
      throw refusal("The request of a results controller asks for objects, identifiers or dictionaries.")
    }
    let request = request.forStores(coordinator.managedObjectModel)
    guard let entity = request.entity else {
      throw refusal("The model has no entity named \"\(request.entityName ?? "")\" to fetch objects of.")
    }
    (self.request, self.entity) = (request, entity)
    equals = IdentifierOrder(entity, coordinator.persistentStores)
    var dependencies = ResultDependencies(entity)
    if let predicate = request.predicate { dependencies.read(predicate) }
    for descriptor in descriptors { dependencies.read(descriptor) }
    if let sectionNameKeyPath, dependencies.read(path: sectionNameKeyPath) {
      throw refusal("The results cannot be divided into sections by \(sectionNameKeyPath), which is to-many.")
    }
    watched = dependencies.watched
    readsAnything = dependencies.areUnknown
    needsFetch =
      readsAnything || request.fetchLimit > 0 || request.fetchOffset > 0
      || !request.includesPendingChanges || request.affectedStores != nil
    predicate = try request.predicate.map { try CompiledPredicate($0, reading: .keyed) }
    sort = try CompiledSort(descriptors, reading: .keyed)
    sections = sectionNameKeyPath.map { ValuePath($0) }
  }

  /// Whether only objects are fetched, so that changes can be tracked.
  var isTracked: Bool { request.resultType == .managedObjectResultType }

  /// Whether the context, or its parent, may have unsaved changes of related objects that are read.
  func dependsOnChanges(in context: NSManagedObjectContext) -> Bool {
    guard request.includesPendingChanges, readsAnything || !watched.isEmpty else { return false }
    return context.parent != nil
      || [context.pending.inserted, context.pending.updated, context.pending.deleted]
        .contains { $0.contains { readsAnything || watches($0.entity) } }
  }

  /// A request for all objects that may be results.
  var everything: NSFetchRequest<NSManagedObject> {
    let everything = NSFetchRequest<NSManagedObject>(copying: request)
    (everything.predicate, everything.sortDescriptors) = (nil, nil)
    (everything.fetchLimit, everything.fetchOffset) = (0, 0)
    return everything
  }

  // MARK: Objects

  /// Whether objects of an entity may be results.
  func fetches(_ other: NSEntityDescription) -> Bool {
    other === entity || request.includesSubentities && other.isKindOf(entity: entity)
  }

  /// Whether the places of results may depend on objects of an entity to which they are related.
  func watches(_ other: NSEntityDescription) -> Bool { watched.contains { other.isKindOf(entity: $0) } }

  /// Whether an object is a result. Fires a fault.
  func matches(_ object: NSManagedObject, in context: NSManagedObjectContext) -> Bool {
    func isPresent() -> Bool { object.registry === context.registry && !object.isDeleted }
    guard isPresent() else { return false }
    object.fireFault()
    guard isPresent() else { return false }
    return predicate?.matches(object) ?? true
  }

  func entry(of object: NSManagedObject) -> ResultEntry {
    ResultEntry(object: object, keys: sort.keys(of: object), id: object.objectID)
  }

  /// The name of the section of a result.
  func section(of object: any KeyValueCoding) -> String {
    guard let sections else { return "" }
    return switch sections.value(of: object).anyValue {
    case nil, is NSNull: ""
    case let text as String: text
    case let number as NSNumber: number.stringValue
    case let other?: "\(other)"
    }
  }

  // MARK: Order

  /// Whether a result comes before another one.
  func precedes(_ left: ResultEntry, _ right: ResultEntry) -> Bool {
    switch sort.order(left.keys, right.keys) {
    case .orderedAscending: return true
    case .orderedDescending: return false
    case .orderedSame:
      guard let left = left.id, let right = right.id else { return false }
      return equals.precedes(left, right)
    }
  }

  /// Whether both have the same values of the sort keys, and the same identifier.
  func areSame(_ left: ResultEntry, _ right: ResultEntry) -> Bool {
    left.id === right.id && sort.order(left.keys, right.keys) == .orderedSame
  }

  /// The entries in order. Objects that were in memory before the fetch may have older values than their rows, by which
  /// the store has sorted.
  func sorted(_ entries: [ResultEntry]) -> [ResultEntry] {
    let isSorted = zip(entries, entries.dropFirst()).allSatisfy { !precedes($1, $0) }
    return isSorted ? entries : entries.sorted(by: precedes)
  }
}
