import Observation
import OpenCoreData

/// What contexts of a store do again and again, and what must not take more memory each time.
enum Life: String, CaseIterable, Codable, Sendable {
  case insertedAndDeleted, insertedAndDeletedByNewContexts, deletedBeforeSaving, rolledBack, conflicts
  case deletedElsewhere, mergedDeletions, fetches, faults, refreshed, failedSaves, constraints
  case contexts, children, undone, results, observed, coordinators, touched, groups, batches, migrations, mapped

  /// The stores with which the life is lived. Others have no migrations, or wait for the disk with each of them.
  var kinds: [StoreKind] { self == .migrations || self == .mapped ? [.rows] : StoreKind.allCases }
}

/// A store on which contexts live again and again: groups with members, which have tags in common.
final class Rounds {
  private let kind: StoreKind
  private let url = FileManager.default.temporaryDirectory.appending(path: "rounds \(UUID().uuidString)")
  private let stack: Stack
  private let others: [NSManagedObjectContext]
  private let group: NSManagedObjectID

  init(_ kind: StoreKind) throws {
    self.kind = kind
    let stack = try Stack(kind, url)
    self.stack = stack
    others = (0..<2).map { _ in stack.makeContext() }
    group = try others[0].performAndWait { [others] in
      let group = others[0].makeGroup("kept")
      try others[0].save()
      return group.objectID
    }
  }

  deinit {
    stack.close()
    try? FileManager.default.removeItem(at: url.appendingPathExtension("migrated"))
    TestRowStore.forget(url)
    try? FileManager.default.removeItem(at: url)
  }

  /// Lives `count` rounds of a life.
  func live(_ life: Life, _ count: Int) throws {
    for round in 0..<count { try liveOnce(life, round) }
  }

  private func liveOnce(_ life: Life, _ round: Int) throws {
    let context = others[0]
    switch life {
    case .insertedAndDeleted: try perform(context) { try insertAndDelete(in: context) }
    case .insertedAndDeletedByNewContexts:
      let context = stack.makeContext()
      try perform(context) { try insertAndDelete(in: context) }
    case .deletedBeforeSaving:
      try perform(context) {
        context.delete(context.makeGroup("never saved"))
        try context.save()
      }
    case .rolledBack:
      try perform(context) {
        let group = try context.existingObject(with: group)
        context.makeGroup("never saved")["next"] = group
        context.delete(group)
        context.processPendingChanges()
        context.rollback()
      }
    case .conflicts: try conflict(round)
    case .deletedElsewhere: try deleteElsewhere(round)
    case .mergedDeletions: try mergeDeletions()
    case .fetches: try fetch()
    case .groups:
      try perform(context) {
        let request = NSFetchRequest<NSDictionary>(entityName: "Member")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["group"]
        let columns = ["count(SELF)", "mode(SELF)", "max(name)"].map { format in
          let column = NSExpressionDescription()
          (column.name, column.expression) = (format, NSExpression(format: format))
          return column
        }
        request.propertiesToFetch = ["group"] + columns as [Any]
        _ = try context.fetch(request)
      }
    case .faults:
      try perform(context) {
        for member in try context.existingObject(with: group).related("members") { _ = member["group"] }
        context.refreshAllObjects()
      }
    case .refreshed:
      try perform(context) {
        let group = try context.existingObject(with: group)
        group["name"] = "changed"
        for member in group.related("members") { context.refresh(member, mergeChanges: true) }
        context.refresh(group, mergeChanges: true)
        context.refresh(group, mergeChanges: false)
      }
    case .failedSaves:
      try perform(context) {
        context.makeGroup("invalid")["name"] = nil
        if (try? context.save()) != nil { throw Unexpected("an invalid group was saved") }
        context.rollback()
      }
    case .constraints:
      try perform(context) {
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        context.makeGroup("kept")
        try context.save()
      }
    case .contexts:
      let context = stack.makeContext()
      try perform(context) {
        let group = try context.existingObject(with: group)
        for member in group.related("members") { _ = member.related("tags") }
        group["name"] = "never saved"
        context.makeGroup("never saved")
      }
    case .children:
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = context
      try perform(child) {
        child.makeGroup("saved to the parent")
        try child.existingObject(with: group)["name"] = "changed"
        try child.save()
        child.makeGroup("never saved")
      }
      try perform(context) {
        context.processPendingChanges()
        context.rollback()
      }
    case .undone:
      try perform(context) {
        let manager = UndoManager()
        context.undoManager = manager
        let group = try context.existingObject(with: group)
        context.makeGroup("undone")["next"] = group
        context.delete(group.related("members")[0])
        context.processPendingChanges()
        for action in [context.undo, context.redo, context.undo] { action() }
        context.undoManager = nil
        context.rollback()
      }
    case .results:
      try perform(context) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Member")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "name", cacheName: nil)
        let list = List()
        controller.delegate = list
        try controller.performFetch()
        let group = context.makeGroup("never saved")
        context.processPendingChanges()
        if list.inserted != group.related("members").count { throw Unexpected("\(list.inserted) were inserted") }
        context.rollback()
      }
    case .observed:
      try perform(context) {
        let group = try context.existingObject(with: group)
        for member in group.related("members") {
          withObservationTracking({ _ = (member["name"], member["group"]) }, onChange: {})
        }
        withObservationTracking({ _ = group["name"] }, onChange: {})
        group["name"] = "changed"
        context.refreshAllObjects()
        context.rollback()
      }
    case .touched:
      try perform(context) {
        let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
        member["name"] = "touches its group"
        member["group"] = try context.existingObject(with: group)
        try context.save()
        context.delete(member)
        try context.save()
      }
    case .coordinators:
      let stack = try Stack(kind, url)
      let context = stack.makeContext()
      try perform(context) {
        for group in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Group")) {
          for member in group.related("members") { _ = member.related("tags") }
        }
        try insertAndDelete(in: context)
      }
      stack.close()
    case .batches: try perform(context) { try runBatches(in: context) }
    case .mapped:
      // A migration takes so long that there are fewer of them.
      guard round.isMultiple(of: 4) else { return }
      let (model, copy) = (Stack.makeModel(hasRanks: false), url.appendingPathExtension("mapped"))
      let type = NSPersistentStore.StoreType(rawValue: TestRowStore.storeType)
      try NSMigrationManager(sourceModel: model, destinationModel: model).migrateStore(
        from: url, type: type,
        mapping: NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model), to: copy,
        type: type
      )
      TestRowStore.forget(copy)
    case .migrations:
      let hasRanks = round.isMultiple(of: 2)
      let stack = try Stack(kind, url.appendingPathExtension("migrated"), hasRanks: hasRanks)
      let context = stack.makeContext()
      try perform(context) {
        if try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Member")) == 0 {
          context.makeGroup("migrated again and again")
          try context.save()
        }
        for member in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Member")) {
          if hasRanks, member["rank"] as? Int != 7 { throw Unexpected("a member has no rank") }
        }
      }
      stack.close()
    }
  }

  private func perform(_ context: NSManagedObjectContext, _ body: () throws -> Void) throws {
    try context.performAndWait { try body() }
  }

  private func insertAndDelete(in context: NSManagedObjectContext) throws {
    let group = context.makeGroup("saved")
    try context.save()
    context.delete(group)
    try context.save()
  }

  /// Both contexts change an object and its relationships, under each policy in turn.
  private func conflict(_ round: Int) throws {
    for (context, text) in zip(others, ["one", "two"]) {
      try perform(context) {
        let policies = [
          NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, .error,
        ]
        context.mergePolicy = policies[round % policies.count]
        let group = try context.existingObject(with: group)
        group["name"] = "\(text) \(round)"
        let members = group.related("members")
        members[0]["next"] = members[1]
      }
    }
    try perform(others[0]) { try others[0].save() }
    try perform(others[1]) {
      do {
        try others[1].save()
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        others[1].rollback()
      }
      others[1].refreshAllObjects()
    }
    try perform(others[0]) { others[0].refreshAllObjects() }
  }

  /// One context deletes what another has changed.
  private func deleteElsewhere(_ round: Int) throws {
    var id: NSManagedObjectID?
    try perform(others[0]) {
      let group = others[0].makeGroup("deleted")
      try others[0].save()
      id = group.objectID
    }
    guard let id else { return }
    try perform(others[1]) {
      others[1].mergePolicy =
        round.isMultiple(of: 2) ? NSMergePolicy.rollback : NSMergePolicy.mergeByPropertyObjectTrump
      let group = try others[1].existingObject(with: id)
      group["name"] = "changed"
      for member in group.related("members") { member["name"] = "changed, too" }
    }
    try perform(others[0]) {
      others[0].delete(others[0].object(with: id))
      try others[0].save()
    }
    try perform(others[1]) {
      try others[1].save()
      // Objects that a policy has inserted again.
      for group in try others[1].groups(named: "changed") { others[1].delete(group) }
      try others[1].save()
    }
  }

  private func mergeDeletions() throws {
    let mailbox = Mailbox(others[0])
    try perform(others[1]) {
      try perform(others[0]) {
        let group = others[0].makeGroup("merged")
        try others[0].save()
        for member in try others[1].existingObject(with: group.objectID).related("members") { _ = member["group"] }
        others[0].delete(group)
        try others[0].save()
      }
      for save in mailbox.empty() { others[1].mergeChanges(fromContextDidSave: save) }
    }
  }

  /// Inserts a group and its members, changes the group that is kept, and deletes what was inserted.
  private func runBatches(in context: NSManagedObjectContext) throws {
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let groups = NSBatchInsertRequest(entityName: "Group", objects: [["name": "batched"], ["name": "kept"]])
    groups.resultType = .objectIDs
    let ids = (try context.execute(groups) as? NSBatchInsertResult)?.result as? [NSManagedObjectID] ?? []
    guard let group = ids.max(by: { Self.number($0) < Self.number($1) }), ids.count == 2 else {
      throw Unexpected("\(ids.count) groups were inserted")
    }
    var names = (0..<5).map { "batched \($0)" }[...]
    let members = NSBatchInsertRequest(entityName: "Member") { (member: NSMutableDictionary) in
      guard let name = names.popFirst() else { return true }
      member["name"] = name
      member["group"] = group
      return false
    }
    _ = try context.execute(members)
    let update = NSBatchUpdateRequest(entityName: "Member")
    update.predicate = NSPredicate(format: "name BEGINSWITH %@", "batched")
    update.propertiesToUpdate = ["name": NSExpression(format: "uppercase:(name)")]
    _ = try context.execute(update)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
    request.predicate = NSPredicate(format: "name == %@", "batched")
    let delete = NSBatchDeleteRequest(fetchRequest: request)
    delete.resultType = .resultTypeCount
    let deleted = (try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int
    if deleted != 6 { throw Unexpected("\(deleted ?? -1) objects were deleted") }
  }

  private static func number(_ id: NSManagedObjectID) -> Int {
    Int(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }

  private func fetch() throws {
    try perform(others[0]) {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
      request.predicate = NSPredicate(format: "name != %@ AND ANY members.name != %@", "a", "b")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.returnsObjectsAsFaults = false
      request.relationshipKeyPathsForPrefetching = ["members"]
      _ = try others[0].fetch(request)
      _ = try others[0].count(for: request)
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Group")
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["name"]
      _ = try others[0].fetch(dictionaries)
    }
  }
}

/// Follows a results controller.
private final class List: NSObject, NSFetchedResultsControllerDelegate {
  private(set) var inserted = 0

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    if type == .insert { inserted += 1 }
  }
}

struct Unexpected: Error {
  let text: String

  init(_ text: String) { self.text = text }
}

extension NSManagedObjectContext {
  fileprivate func groups(named name: String) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
    request.predicate = NSPredicate(format: "name == %@", name)
    return try fetch(request)
  }

  /// A new group with five members. Each has two tags, which the next member has, too, and leads to the next.
  @discardableResult
  fileprivate func makeGroup(_ name: String) -> NSManagedObject {
    func make(_ entity: String, _ name: String) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
      object["name"] = name
      return object
    }
    let group = make("Group", name)
    let members = (0..<5).map { make("Member", "\($0)") }
    let tags = (0..<5).map { make("Tag", "\($0)") }
    for (place, member) in members.enumerated() {
      member["group"] = group
      member["next"] = members[(place + 1) % members.count]
      member["tags"] = Set([tags[place], tags[(place + 1) % tags.count]])
    }
    return group
  }
}

extension NSManagedObject {
  fileprivate func related(_ key: String) -> [NSManagedObject] {
    (self[key] as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
  }
}
