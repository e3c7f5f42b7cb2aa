import Foundation

/// The changes of a context that concern a fetch: objects inserted, changed or deleted since the last save.
struct PendingOverlay {
  private let request: NSFetchRequest<NSManagedObject>
  /// In the order of their insertion.
  private let inserted: [NSManagedObject]
  private let updated: ObjectList
  private let deleted: ObjectList

  init(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws {
    self.request = request
    guard request.includesPendingChanges, !context.pending.isEmpty, let entity = request.entity else {
      (inserted, updated, deleted) = ([], ObjectList(), ObjectList())
      return
    }
    try context.propagateAllDeletions()
    func concerned(_ objects: ObjectList) -> [NSManagedObject] {
      objects.filter { object in
        (object.entity === entity || request.includesSubentities && object.entity.isKindOf(entity: entity))
          && request.concerns(object, context)
      }
    }
    inserted = concerned(context.pending.inserted)
    updated = ObjectList(concerned(context.pending.updated))
    deleted = ObjectList(concerned(context.pending.deleted))
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Widens the request to all objects that may be in its window once the changes are applied.
  func widen(_ request: NSFetchRequest<NSManagedObject>) {
    if request.fetchLimit > 0 {
      let changed = updated.count + deleted.count
      request.fetchLimit = min(FetchWindow(request).end, .max - changed) + changed
    }
    request.fetchOffset = 0
  }

  /// The stored objects without deleted ones, and with inserted and changed ones in their present positions.
  ///
  /// - Throws: The error of the store when it cannot read a changed fault.
  func laid(over stored: [NSManagedObject], _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let matches: (NSManagedObject) -> Bool =
      if let predicate = request.predicate {
        try CompiledPredicate(predicate, reading: .keyed).matches
      } else {
        { _ in true }
      }
    var unchanged: [NSManagedObject] = []
    var changed = ObjectList()
    // Without an order, changed objects stay where they are.
    let order = try ObjectOrder(request.sortDescriptors)
    for object in stored where !deleted.contains(object) {
      if !updated.contains(object) || order == nil && matches(object) {
        unchanged.append(object)
      }
    }
    let kept = ObjectList(unchanged)
    for object in updated where !kept.contains(object) {
      if try context.hasStoredRow(object), matches(object) { changed.append(object) }
    }
    for object in inserted where !kept.contains(object) && matches(object) { changed.append(object) }
    guard let order, let entity = request.entity else { return unchanged + changed.elements }
    let stores = context.persistentStoreCoordinator?.persistentStores ?? []
    return order.merged(unchanged, changed.elements, IdentifierOrder(entity, stores))
  }
}

extension NSManagedObjectContext {
  /// Whether the store still has the row of a changed fault, which somebody else may have deleted. True for an object
  /// that is no fault.
  fileprivate func hasStoredRow(_ object: NSManagedObject) throws -> Bool {
    guard object.isFault else { return true }
    persistentStoreCoordinator?.rowsMayBeStale([object.objectID])
    return try hasRow(object)
  }
}

extension NSFetchRequest {
  /// Whether an object is in one of the stores that the request is for, or would be saved to one.
  fileprivate func concerns(_ object: NSManagedObject, _ context: NSManagedObjectContext) -> Bool {
    guard let affectedStores else { return true }
    let present = context.persistentStoreCoordinator?.presentStore(of: object.objectID)
    let store = present ?? context.assignedStores[ObjectIdentifier(object)]
    return store.map { store in affectedStores.contains { $0 === store } } ?? true
  }
}

/// The order of objects that a request asks for.
struct ObjectOrder {
  private let sort: CompiledSort<NSManagedObject>

  /// Nil if the request asks for none.
  init?(_ descriptors: [NSSortDescriptor]?) throws {
    guard let descriptors, !descriptors.isEmpty else { return nil }
    sort = try CompiledSort(descriptors, reading: .keyed)
  }

  func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] { sort.sorted(objects) }

  /// Merges other objects into objects that are in order already. Equal ones get the order that they will have when
  /// they are saved.
  ///
  /// Reads O(m log n) of the n ordered objects, where m is the number of the others, so a few changes do not fire many
  /// faults.
  func merged(
    _ ordered: [NSManagedObject], _ others: [NSManagedObject], _ equals: IdentifierOrder
  ) -> [NSManagedObject] {
    var merged: [NSManagedObject] = []
    merged.reserveCapacity(ordered.count + others.count)
    var taken = 0
    for object in sorted(others.sorted { equals.precedes($0.objectID, $1.objectID) }) {
      var (low, high) = (taken, ordered.count)
      while low < high {
        let middle = (low + high) / 2
        let order = sort.order(object, ordered[middle])
        let isBefore =
          order == .orderedSame
          ? equals.precedes(object.objectID, ordered[middle].objectID) : order == .orderedAscending
        if isBefore { high = middle } else { low = middle + 1 }
      }
      merged += ordered[taken..<low]
      merged.append(object)
      taken = low
    }
    return merged + ordered[taken...]
  }
}
