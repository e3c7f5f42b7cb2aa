import OpenCoreData

/// A random program on one context, whose results controllers are checked after each step, and on a second context
/// whose saves the first one merges. The first context may be a child, and may undo and redo its changes.
final class ResultsProgram {
  private let shelf: Shelf
  private let context: NSManagedObjectContext
  private let other: NSManagedObjectContext
  /// The parent of the first context; nil if it has none.
  private var parent: NSManagedObjectContext?
  private var generator: SeededGenerator
  private var watchers: [ResultsWatcher] = []
  private var log: [String] = []
  /// What the objects that tests make and throw away are held by.
  private var held: [NSManagedObject] = []

  init(_ kind: Shelf.Kind, _ url: URL, seed: UInt64) throws {
    shelf = try Shelf(kind, at: url)
    generator = SeededGenerator(seed: seed)
    if Int.random(in: 0..<3, using: &generator) == 0 {
      let parent = shelf.makeContext()
      parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      self.parent = parent
      context = NSManagedObjectContext(.privateQueue)
      context.parent = parent
    } else {
      context = shelf.makeContext()
    }
    other = shelf.makeContext()
    if Bool.random(using: &generator) { context.undoManager = UndoManager() }
    context.mergePolicy = Bool.random(using: &generator) ? NSMergePolicy.overwrite : .mergeByPropertyObjectTrump
    other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  }

  func close() { shelf.close() }

  /// Returns what went wrong.
  func run(steps: Int) throws -> String? {
    try context.performAndWait {
      for _ in 0..<Int.random(in: 0...15, using: &generator) { insert(into: context) }
      try context.save()
      watchers = try ResultsWatcher.all(context, &generator)
      for _ in 0..<steps {
        do { try step() } catch { return "\(error)\n\(log.joined(separator: "\n"))" }
        context.processPendingChanges()
        if let failure = try watchers.lazy.compactMap({ try $0.failure() }).first {
          return "\(failure)\n\(log.joined(separator: "\n"))"
        }
      }
      return nil
    }
  }

  private func step() throws {
    let number = Int.random(in: 0..<100, using: &generator)
    switch number {
    case 0..<18: insert(into: context)
    case 18..<48: try change(in: context, times: Int.random(in: 1...4, using: &generator))
    case 48..<58:
      if let object = try any(context) {
        note("delete", object)
        context.delete(object)
      }
    case 58..<70:
      note("save")
      try context.save()
      if let parent, Bool.random(using: &generator) {
        note("save the parent")
        try parent.performAndWait { try parent.save() }
      }
    case 70..<74:
      note("rollback")
      context.rollback()
    case 74..<78:
      if let object = try any(context) {
        let merges = Bool.random(using: &generator)
        note("refresh \(merges)", object)
        context.refresh(object, mergeChanges: merges)
      }
    case 78..<80:
      note("refresh all")
      context.refreshAllObjects()
    case 80..<82:
      note("obtain identifiers, save")
      try context.obtainPermanentIDs(for: Array(context.insertedObjects).shuffled(using: &generator))
      try context.save()
    case 82..<83:
      note("reset")
      context.reset()
    case 83..<86: try deleteInBatch()
    case 86..<90 where context.undoManager != nil:
      let isUndo = Int.random(in: 0..<3, using: &generator) > 0
      note(isUndo ? "undo" : "redo")
      if isUndo { context.undo() } else { context.redo() }
    default: try changeElsewhere()
    }
  }

  // MARK: Changes

  private func insert(into context: NSManagedObjectContext) {
    if Int.random(in: 0..<6, using: &generator) == 0 {
      let box = context.put("box \(Int.random(in: 0..<3, using: &generator))", entity: "Box")
      note("insert", box)
    } else {
      let object = context.put("n", entity: Bool.random(using: &generator) ? "Thing" : "Toy")
      note("insert", object)
      for _ in 0..<3 { try? set(object, in: context) }
    }
  }

  private func change(in context: NSManagedObjectContext, times: Int) throws {
    for _ in 0..<times {
      if let object = try any(context) { try set(object, in: context) }
    }
  }

  private func set(_ object: NSManagedObject, in context: NSManagedObjectContext) throws {
    if object.entity.name == "Box" {
      object["label"] = "box \(Int.random(in: 0..<3, using: &generator))"
      note("label \(object["label"] ?? "")", object)
      return
    }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: object["name"] = ["a", "B", "b", "c"].randomElement(using: &generator)
    case 1, 2: object["rank"] = Int.random(in: 0..<5, using: &generator)
    case 3: object["kind"] = ["x", "y", "z", nil].randomElement(using: &generator)!
    case 4: object["isHidden"] = Bool.random(using: &generator)
    default:
      let boxes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).sorted { $0.age < $1.age }
      object["box"] = boxes.randomElement(using: &generator)
    }
    note("set", object)
  }

  private func any(_ context: NSManagedObjectContext) throws -> NSManagedObject? {
    let isBox = Int.random(in: 0..<6, using: &generator) == 0
    let request = NSFetchRequest<NSManagedObject>(entityName: isBox ? "Box" : "Thing")
    return try context.fetch(request).sorted { $0.age < $1.age }.randomElement(using: &generator)
  }

  private func changeElsewhere() throws {
    note("elsewhere:")
    let (count, isRemote) = (Int.random(in: 1...4, using: &generator), Bool.random(using: &generator))
    nonisolated(unsafe) var saved: Notification?
    let token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectsNotification, object: other, queue: nil
    ) { notification in unsafe saved = notification }
    defer { NotificationCenter.default.removeObserver(token) }
    try other.performAndWait {
      other.reset()
      for _ in 0..<count {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: insert(into: other)
        case 1:
          if let object = try any(other) {
            note("delete", object)
            other.delete(object)
          }
        default: try change(in: other, times: 1)
        }
      }
      try other.save()
    }
    guard let saved = unsafe saved else { return }
    note("merge")
    if let parent { parent.performAndWait { parent.mergeChanges(fromContextDidSave: saved) } }
    if isRemote {
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved.userInfo ?? [:], into: [context])
    } else {
      context.mergeChanges(fromContextDidSave: saved)
    }
  }

  private func deleteInBatch() throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
    let (name, rank) = (["a", "b"].randomElement(using: &generator)!, Int.random(in: 0..<5, using: &generator))
    request.predicate = NSPredicate(format: "name == %@ AND rank == %d", name, rank)
    note("delete in a batch: \(request.predicate!)")
    let batch = NSBatchDeleteRequest(fetchRequest: request)
    batch.resultType = .resultTypeObjectIDs
    let result = try context.execute(batch) as? NSBatchDeleteResult
    let ids = result?.result as? [NSManagedObjectID] ?? []
    // The result does not name the boxes whose members have gone.
    let boxes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).map(\.objectID)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectIDsKey: ids, NSUpdatedObjectIDsKey: boxes],
      into: [parent, context].compactMap(\.self))
  }

  private func note(_ what: String, _ object: NSManagedObject? = nil) {
    let id = object.map { object in
      " \(object.entity.name ?? "") \(object.objectID.uriRepresentation().lastPathComponent.suffix(4)) "
        + ListOnScreen.text(object)
    }
    log.append("  \(what)\(id ?? "")")
  }
}

extension NSManagedObject {
  /// Its place in the order of their making, which is the same whenever a program is repeated.
  var age: Int {
    let text = objectID.uriRepresentation().lastPathComponent
    // A temporary number follows the identifier of the process, in hexadecimal digits.
    return objectID.isTemporaryID ? 1 << 40 + (Int(text.dropFirst(37), radix: 16) ?? 0) : Int(text.dropFirst()) ?? 0
  }
}
