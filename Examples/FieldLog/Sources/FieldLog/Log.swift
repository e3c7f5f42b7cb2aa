import CoreData

/// The log: the sites and their entries, as they are in the store. Each change is saved at once, and can be undone.
@MainActor
struct Log {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) {
    self.context = context
    context.undoManager = UndoManager()
  }

  func addSite(_ name: String) throws {
    let site = Site(context: context)
    site.name = name
    do {
      try save()
    } catch CocoaError.managedObjectConstraintMerge {
      throw Refusal(reason: "there is a site \"\(name)\" already")
    }
  }

  func site(_ name: String) throws -> Site { try find("site", "name", name) }

  func entry(_ species: String) throws -> Entry { try find("entry", "species", species) }

  func delete(_ species: String) throws {
    context.delete(try entry(species))
    try save()
  }

  func undo() throws {
    try context.undoOnce()
    try save()
  }

  func redo() throws {
    try context.redoOnce()
    try save()
  }

  /// Saves the changes of the log, or takes them back if that fails.
  func save() throws {
    do {
      try context.save()
    } catch {
      context.rollback()
      throw error
    }
  }

  func show() throws {
    let request: NSFetchRequest<Site> = Site.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.relationshipKeyPathsForPrefetching = ["entries.measurements"]
    for site in try context.fetch(request) {
      print("  \(site.name ?? "")")
      for entry in site.entriesInOrder { print("    \(entry.text)") }
    }
  }

  private func find<Object: NSManagedObject>(_ what: String, _ key: String, _ name: String) throws -> Object {
    let request = NSFetchRequest<Object>(entityName: Object.entity().name ?? "")
    request.predicate = NSPredicate(format: "%K == %@", key, name)
    if let object = try context.fetch(request).first { return object }
    throw Refusal(reason: "there is no \(what) \"\(name)\"")
  }
}
