import CoreData

/// Edits one note in a context of its own: nothing reaches the list before the editor saves, and an editor that is
/// closed leaves nothing behind.
@MainActor
struct Editor {
  private let context: NSManagedObjectContext
  private let note: Note

  init(_ note: Note) throws {
    context = NSManagedObjectContext(.mainQueue)
    context.name = "editor"
    context.parent = note.managedObjectContext
    guard let ours = try context.existingObject(with: note.objectID) as? Note else { fatalError("That is no note.") }
    self.note = ours
  }

  var title: String? {
    get { note.title }
    nonmutating set { note.title = newValue }
  }

  /// Has the list show the changes.
  func save() throws { try context.save() }
}
