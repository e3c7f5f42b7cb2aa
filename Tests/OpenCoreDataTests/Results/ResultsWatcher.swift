import OpenCoreData

/// A controller with a delegate of one form, and what the delegate makes of what it is told.
final class ResultsWatcher {
  private let controller: NSFetchedResultsController<NSManagedObject>
  private let context: NSManagedObjectContext
  private let path: String?
  private let delegate: any WatchingDelegate

  private init(
    _ request: NSFetchRequest<NSManagedObject>, _ path: String?, _ delegate: any WatchingDelegate,
    _ context: NSManagedObjectContext
  ) throws {
    (self.path, self.delegate, self.context) = (path, delegate, context)
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path, cacheName: nil)
    controller.delegate = delegate
    try controller.performFetch()
    delegate.begin(controller)
  }

  /// A few controllers, with all kinds of requests and delegates.
  static func all(_ context: NSManagedObjectContext, _ generator: inout SeededGenerator) throws -> [ResultsWatcher] {
    let rank = Int.random(in: 0..<3, using: &generator)
    let requests: [(NSFetchRequest<NSManagedObject>, String?)] = [
      (Shelf.request(by: "rank"), nil),
      (Shelf.request(by: "kind", "-rank"), "kind"),
      (Shelf.request("rank > \(rank) AND isHidden == NO", by: "-rank"), nil),
      (Shelf.request("isHidden == NO", by: "-kind", "name"), "kind"),
      (Shelf.request("kind != 'y'", by: "rank", "name"), "rank"),
      (Shelf.request("box != nil", by: "box.label", "rank"), "box.label"),
      (Shelf.request("box.label BEGINSWITH 'box 1'", by: "name"), nil),
      (Shelf.request(by: "age", "rank", entity: "Toy"), "age"),
      (Shelf.request("things.@count > 1", by: "label", entity: "Box"), "label"),
      (Shelf.request("ANY things.rank == \(rank)", by: "-label", entity: "Box"), nil),
    ]
    var watchers: [ResultsWatcher] = []
    for (request, path) in requests.shuffled(using: &generator).prefix(3) {
      request.includesSubentities = Int.random(in: 0..<5, using: &generator) > 0
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: request.fetchLimit = 5
      case 1: (request.fetchLimit, request.fetchOffset) = (4, 2)
      // A child is not told when its parent saves to the store.
      case 2: request.includesPendingChanges = path != nil || context.parent != nil
      case 3:
        request.predicate = request.predicate.map { predicate in
          NSPredicate { object, _ in predicate.evaluate(with: object) }
        }
      default: break
      }
      watchers.append(try ResultsWatcher(request, path, ListOnScreen(), context))
      if Bool.random(using: &generator) {
        watchers.append(try ResultsWatcher(request, path, SnapshotOnScreen(), context))
      }
      if path == nil { watchers.append(try ResultsWatcher(request, path, DifferenceOnScreen(), context)) }
    }
    return watchers
  }

  /// What differs from a new fetch.
  func failure() throws -> String? {
    let request = controller.fetchRequest
    let fetched = try fetch(request)
    let found = controller.fetchedObjects ?? []
    func names(_ objects: [NSManagedObject]) -> String {
      objects.map { $0.objectID.uriRepresentation().lastPathComponent }.joined(separator: " ")
    }
    func problem(_ what: String) -> String {
      "\(type(of: delegate)), \(path ?? "no sections"), \(request.predicate.map { "\($0)" } ?? "all"), "
        + "\(request.sortDescriptors ?? []) \(request.fetchOffset) \(request.fetchLimit) "
        + "\(request.includesPendingChanges) \(request.includesSubentities): \(what)\n"
        + "  found \(names(found))\n  fetched \(names(fetched))"
    }
    guard found.elementsEqual(fetched, by: ===) else { return problem("other results") }
    var sections: [(name: String, objects: [NSManagedObject])] = path == nil ? [("", [])] : []
    for object in fetched {
      let name = path.map { object.value(forKeyPath: $0).map { "\($0)" } ?? "" } ?? ""
      if sections.last?.name != name { sections.append((name, [])) }
      sections[sections.count - 1].objects.append(object)
    }
    let content = ListOnScreen.content(controller)
    guard content.map(\.name) == sections.map(\.name),
      content.map({ $0.rows.map(\.object) }) == sections.map(\.objects)
    else { return problem("other sections: \(content.map(\.name))") }
    for (section, part) in sections.enumerated() {
      for (row, object) in part.objects.enumerated() {
        let path = IndexPath(row: row, section: section)
        guard controller.object(at: path) === object, controller.indexPath(forObject: object) == path else {
          return problem("\(path) leads to another object")
        }
      }
    }
    return delegate.failure(controller).map(problem)
  }
}

extension ResultsWatcher {
  /// What a fetch returns. A fetch does not evaluate objects again because related objects have unsaved changes; a
  /// controller does.
  private func fetch(_ request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] {
    guard request.includesPendingChanges, context.hasChanges || context.parent != nil else {
      return try context.fetch(request)
    }
    let all = NSFetchRequest<NSManagedObject>(entityName: request.entityName ?? "")
    all.includesSubentities = request.includesSubentities
    let found = try context.fetch(all).filter { request.predicate?.evaluate(with: $0) ?? true }
    let sorted = found.sorted { left, right in
      for descriptor in request.sortDescriptors ?? [] {
        let order = descriptor.compare(left, to: right)
        if order != .orderedSame { return order == .orderedAscending }
      }
      return (left.entity.name == "Thing" ? 0 : 1, left.age) < (right.entity.name == "Thing" ? 0 : 1, right.age)
    }
    let rest = sorted.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }
}

/// A delegate that knows from what it is told what is on the screen.
protocol WatchingDelegate: NSFetchedResultsControllerDelegate {
  func begin(_ controller: NSFetchedResultsController<NSManagedObject>)
  /// How the screen differs from the content of the controller.
  func failure(_ controller: NSFetchedResultsController<NSManagedObject>) -> String?
}

extension ListOnScreen: WatchingDelegate {
  func begin(_ controller: NSFetchedResultsController<NSManagedObject>) { load(controller) }

  func failure(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
    let calls = takeCalls()
    if let mistake = mistakes.first { return "\(mistake), \(calls)" }
    let content = Self.content(controller)
    return sections == content ? nil : "the list is \(sections.map { ($0.name, $0.rows.map(\.text)) }), \(calls)"
  }
}

final class SnapshotOnScreen: NSObject, WatchingDelegate {
  private(set) var snapshots: [NSDiffableDataSourceSnapshotReference] = []
  private(set) var others = 0

  func begin(_ controller: NSFetchedResultsController<NSManagedObject>) {}

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { snapshots.append(snapshot) }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { others += 1 }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }

  func failure(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
    guard let last = snapshots.last, others == 0 else { return "other calls" }
    snapshots = [last]
    let content = ListOnScreen.content(controller)
    guard last.sectionIdentifiers == content.map(\.name),
      last.sectionIdentifiers.map(last.itemIdentifiersInSection) == content.map({ $0.rows.map(\.object.objectID) })
    else { return "the snapshot is \(last.itemIdentifiers)" }
    return nil
  }
}

final class DifferenceOnScreen: NSObject, WatchingDelegate {
  private(set) var items: [NSManagedObjectID] = []
  private(set) var isBroken = false

  func begin(_ controller: NSFetchedResultsController<NSManagedObject>) {}

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    for case .remove(let offset, let id, _) in diff where items[offset] != id { isBroken = true }
    guard let applied = items.applying(diff) else {
      isBroken = true
      return
    }
    items = applied
  }

  func failure(_ controller: NSFetchedResultsController<NSManagedObject>) -> String? {
    items == (controller.fetchedObjects ?? []).map(\.objectID) && !isBroken
      ? nil : "the differences give \(items), \(isBroken)"
  }
}
