import CoreData

/// Edits one entry in a child context of the log's, with an undo manager of its own: the log learns nothing of it before
/// the editor saves. An editor that is closed without that leaves nothing behind.
@MainActor
struct EntryEditor {
  private let context: NSManagedObjectContext
  let entry: Entry

  /// Edits an entry of the log.
  init(_ entry: Entry, of log: Log) throws {
    context = log.context.child(named: "editor of an entry")
    self.entry = try context.own(entry)
    context.undoManager = UndoManager()
  }

  /// Edits a new entry. What it begins with is no change that could be undone.
  init(_ count: Int32, of species: String, at site: Site, of log: Log) throws {
    context = log.context.child(named: "editor of a new entry")
    entry = Entry(context: context)
    entry.species = species
    entry.count = count
    entry.site = try context.own(site)
    context.processPendingChanges()
    context.undoManager = UndoManager()
  }

  func set(count: Int32) {
    entry.count = count
    endChange()
  }

  /// Puts a measurement before the others.
  func putFirst(_ part: String) throws {
    guard let measure = entry.measurement(of: part) else { throw Refusal(reason: "\"\(part)\" was not measured") }
    let measurements = entry.mutableOrderedSetValue(forKey: "measurements")
    measurements.moveObjects(at: [measurements.index(of: measure)], to: 0)
    endChange()
  }

  /// The next change will be undone by itself.
  private func endChange() { context.processPendingChanges() }

  func undo() throws { try context.undoOnce() }

  func redo() throws { try context.redoOnce() }

  /// Makes the changes one change of the log. If they are not valid, they are still here, and the log is as it was.
  func save() throws { try context.save() }
}
