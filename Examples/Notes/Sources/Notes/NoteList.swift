import CoreData

/// The list of all notes, in a section for each folder, as a screen would show it. Prints what changes.
@MainActor
final class NoteList {
  private let controller: NSFetchedResultsController<Note>
  private let changes = ListChanges()

  init(_ context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<Note> = Note.fetchRequest()
    request.sortDescriptors = ["folder.name", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
    request.fetchBatchSize = 50
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "folder.name", cacheName: nil)
    controller.delegate = changes
    try controller.performFetch()
  }

  func show() {
    print("\(controller.fetchedObjects?.count ?? 0) notes")
    for section in controller.sections ?? [] {
      print("  \(section.name)")
      for case let note as Note in section.objects ?? [] { print("    \(note.title ?? "")") }
    }
  }

  /// The note with a title; nil if there is none.
  func note(_ title: String) -> Note? { controller.fetchedObjects?.first { $0.title == title } }
}

/// Prints the changes of a list, as a table view would be told of them. Its methods have the signatures that they have
/// in applications for Apple's platforms.
private final class ListChanges: NSObject, NSFetchedResultsControllerDelegate {
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange sectionInfo: NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {
    switch type {
    case .insert: print("  + section \(sectionIndex)  \(sectionInfo.name)")
    case .delete: print("  - section \(sectionIndex)  \(sectionInfo.name)")
    default: break
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let title = (anObject as? Note)?.title ?? ""
    switch (type, indexPath, newIndexPath) {
    case (.insert, _, let new?): print("  + \(new.section).\(new.row)  \(title)")
    case (.delete, let old?, _): print("  - \(old.section).\(old.row)")
    case (.move, let old?, let new?): print("  \(old.section).\(old.row) > \(new.section).\(new.row)  \(title)")
    case (.update, let old?, _): print("  = \(old.section).\(old.row)  \(title)")
    default: break
    }
  }
}
