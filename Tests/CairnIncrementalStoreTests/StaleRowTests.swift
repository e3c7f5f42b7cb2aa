import CairnIncrementalStore
import CoreData
import Testing

/// Two containers on one store. What one saves, the other has in its row cache as it was before.
@Suite struct StaleRowTests {
  private let library = Library()
  private let mine: NSPersistentContainer
  private let theirs: NSPersistentContainer

  init() throws {
    mine = try Self.container(library.url)
    theirs = try Self.container(library.url)
  }

  private static func container(_ url: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
    container.persistentStoreDescriptions = [.cairn(at: url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  /// The notification of a save of the other container.
  private func theySave(_ change: (NSManagedObjectContext) throws -> Void) throws -> Notification {
    let context = theirs.newBackgroundContext()
    let saved = Saved()
    let token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { saved.notification = $0 }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      try change(context)
      try context.save()
    }
    return try #require(saved.notification)
  }

  /// Unchecked, because the notification is posted on the thread that waits for the save.
  private final class Saved: @unchecked Sendable {
    var notification: Notification?
  }

  @Test("A merged notification of another container on the same store brings its values and members, and no conflict.")
  func notification() throws {
    let context = mine.newBackgroundContext()
    try context.performAndWait {
      let shelf = context.insert("Shelf", ["name": "novels"])
      let book = context.insert("Book", ["title": "Emma", "author": "J. A.", "shelf": shelf])
      try context.save()
      let saved = try theySave { other in
        other.its(book)["author"] = "Jane Austen"
        _ = other.insert("Book", ["title": "Persuasion", "shelf": other.its(shelf)])
      }
      #expect(book["author"] as? String == "J. A.")
      context.mergeChanges(fromContextDidSave: saved)
      #expect(book["author"] as? String == "Jane Austen")
      #expect((shelf["books"] as? NSSet)?.count == 2)
      book["title"] = "Emma!"
      shelf["name"] = "old novels"
      try context.save()
    }
  }

  @Test("A merged notification of another container registers what that container has inserted.")
  func inserted() throws {
    let context = mine.newBackgroundContext()
    try context.performAndWait {
      let saved = try theySave { _ = $0.insert("Book", ["title": "Emma"]) }
      context.mergeChanges(fromContextDidSave: saved)
      #expect(context.registeredObjects.map { $0["title"] as? String } == ["Emma"])
    }
  }

  @Test("Changes of another container that are named by identifiers or URIs are read again.", arguments: [false, true])
  func identifiers(_ asURIs: Bool) throws {
    let context = mine.newBackgroundContext()
    try context.performAndWait {
      let books = ["Emma", "Persuasion"].map { context.insert("Book", ["title": $0]) }
      try context.save()
      _ = try theySave { other in
        other.its(books[0])["author"] = "Jane Austen"
        other.delete(other.its(books[1]))
      }
      let named = books.map { asURIs ? $0.objectID.uriRepresentation() as Any : $0.objectID }
      let changes: [AnyHashable: Any] = [NSUpdatedObjectsKey: [named[0]], NSDeletedObjectsKey: [named[1]]]
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
      #expect(books[0]["author"] as? String == "Jane Austen")
      #expect(books[1].isDeleted)
      books[0]["author"] = "Austen"
      try context.save()
    }
  }
}
