import CairnIncrementalStore
import CoreData
import Foundation
import Testing

/// Relationships of which only the number of members is asked for.
@Suite struct MemberCountTests {
  private let library = Library()

  /// Saves a shelf with two books, and calls `body` with the shelf in a context that has read nothing else.
  private func withShelf(_ body: (NSManagedObject, NSManagedObjectContext) throws -> Void) throws {
    let coordinator = try library.coordinator()
    try coordinator.work { context in
      let shelf = context.insert("Shelf", ["name": "novels"])
      for title in ["Emma", "Persuasion"] { _ = context.insert("Book", ["title": title, "shelf": shelf]) }
      try context.save()
    }
    let context = coordinator.anotherContext()
    try context.performAndWait {
      let shelves = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
      try body(#require(shelves.first), context)
    }
    try coordinator.close()
  }

  @Test("The count of the members of a relationship makes no objects of them.")
  func unread() throws {
    try withShelf { shelf, context in
      #expect(shelf.value(forKeyPath: "books.@count") as? Int == 2)
      #expect(shelf.mutableSetValue(forKey: "books").count == 2)
      #expect(NSPredicate(format: "books.@count == 2").evaluate(with: shelf))
      #expect(context.registeredObjects == [shelf])
      #expect(shelf.hasFault(forRelationshipNamed: "books"))
    }
  }

  @Test("The count of the members of a relationship includes unsaved changes.")
  func changed() throws {
    try withShelf { shelf, context in
      let added = context.insert("Book", ["title": "Sanditon", "shelf": shelf])
      #expect(shelf.value(forKeyPath: "books.@count") as? Int == 3)
      #expect(shelf.mutableSetValue(forKey: "books").count == 3)
      let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      for book in books where book !== added { context.delete(book) }
      context.processPendingChanges()
      #expect(shelf.value(forKeyPath: "books.@count") as? Int == 1)
      #expect(shelf.mutableSetValue(forKey: "books").count == 1)
    }
  }

  @Test("The count of the members of a relationship is 0 if somebody else has deleted the object.")
  func gone() throws {
    try withShelf { shelf, context in
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      try other.performAndWait {
        other.delete(other.object(with: shelf.objectID))
        try other.save()
      }
      context.refresh(shelf, mergeChanges: false)
      #expect(shelf.value(forKeyPath: "books.@count") as? Int == 0)
      #expect(shelf.mutableSetValue(forKey: "books").count == 0)
    }
  }

  /// A set that makes its members late could be the value of a relationship if Foundation asked it for them.
  @Test("Foundation makes an empty Swift set of a subclass of NSSet.")
  func subclass() {
    final class Late: NSSet {
      override var count: Int { 1 }
      override func member(_ object: Any) -> Any? { object as? NSNumber == 1 ? 1 as NSNumber : nil }
      override func objectEnumerator() -> NSEnumerator { NSArray(array: [1 as NSNumber]).objectEnumerator() }
    }
    let late: Any = Late()
    #expect((late as? NSSet)?.allObjects.count == 1)
    withKnownIssue { #expect((late as? Set<NSNumber>)?.count == 1) }
  }
}
