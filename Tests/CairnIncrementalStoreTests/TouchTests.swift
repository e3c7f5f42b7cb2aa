import Cairn
@testable import CairnIncrementalStore
import CoreData
import Testing

@Suite("Rows of objects whose relationships change at the other end")
struct TouchTests {
  private let library = Library()

  @Test("A new member does not write the row of its owner again, but raises the version of the owner.")
  func newMember() throws {
    let (one, other) = (try library.coordinator(), try library.coordinator())
    let shelf = try one.work { context in
      let shelf = context.insert("Shelf", ["name": "A"])
      try context.save()
      return shelf
    }
    other.work { _ = $0.its(shelf).value(forKey: "name") }
    try one.work { context in
      _ = context.insert("Book", ["title": "Emma", "shelf": shelf])
      try context.save()
    }
    #expect(try one.rows("Shelf").map(\.version) == [1])
    let conflict = try other.conflict { $0.its(shelf).setValue("B", forKey: "name") }
    #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
    #expect(conflict.persistedSnapshot?["name"] as? String == "A")
  }

  @Test("An object keeps the count of its touches when it is written again, and when the store is reopened.")
  func version() throws {
    let one = try library.coordinator()
    let shelf = try one.work { context in
      let shelf = context.insert("Shelf", ["name": "A"])
      try context.save()
      for title in ["Emma", "Persuasion"] {
        _ = context.insert("Book", ["title": title, "shelf": shelf])
        try context.save()
      }
      shelf.setValue("B", forKey: "name")
      try context.save()
      return shelf
    }
    #expect(try one.rows("Shelf").map(\.version) == [2])
    #expect(try one.rows("Shelf", touches: true).map(\.version) == [2])
    try one.close()
    let (next, other) = (try library.coordinator(), try library.coordinator())
    next.work { _ = $0.its(shelf).value(forKey: "name") }
    try other.work { context in
      context.its(shelf).setValue("C", forKey: "name")
      try context.save()
    }
    let conflict = try next.conflict { $0.its(shelf).setValue("D", forKey: "name") }
    #expect(conflict.oldVersionNumber == 4 && conflict.newVersionNumber == 5)
  }

  @Test("A context that has read an object before it was touched learns of the touch by a fetch.")
  func fetched() throws {
    let (one, other) = (try library.coordinator(), try library.coordinator())
    let shelf = try one.work { context in
      let shelf = context.insert("Shelf", ["name": "A"])
      try context.save()
      return shelf
    }
    try other.work { context in
      _ = context.insert("Book", ["title": "Emma", "shelf": context.its(shelf)])
      try context.save()
    }
    try one.work { context in
      context.refresh(shelf, mergeChanges: false)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
      request.returnsObjectsAsFaults = false
      request.predicate = NSPredicate(format: "name == 'A'")
      #expect(try context.fetch(request) == [shelf])
      shelf.setValue("B", forKey: "name")
      try context.save()
    }
    #expect(try one.rows("Shelf").map(\.version) == [2])
  }

  @Test("Deleting an object deletes its touches; an object that was never touched has none.")
  func deleted() throws {
    let one = try library.coordinator()
    try one.work { context in
      let shelves = ["A", "B"].map { context.insert("Shelf", ["name": $0]) }
      try context.save()
      _ = context.insert("Book", ["title": "Emma", "shelf": shelves[0]])
      try context.save()
      #expect(try one.rows("Shelf", touches: true).count == 1)
      shelves.forEach(context.delete)
      try context.save()
    }
    #expect(try one.rows("Shelf") == [])
    #expect(try one.rows("Shelf", touches: true) == [])
  }

  @Test("A save fails if another program has touched or written the row of an object since the save began.")
  func writtenBetween() throws {
    let one = try library.coordinator()
    let engine = try #require(one.store.engine)
    let shelf = try one.work { context in
      let shelf = context.insert("Shelf", ["name": "A"])
      try context.save()
      return shelf
    }
    let key = try #require(one.rows("Shelf").first).key
    for keyspace in [try one.keyspace("Shelf", touches: true), try one.keyspace("Shelf")] {
      try engine.store.put(engine.store.get(key, in: keyspace) ?? [], at: key, in: keyspace)
      _ = try one.conflict { _ in shelf.setValue("B", forKey: "name") }
      one.work { $0.refresh(shelf, mergeChanges: false) }
    }
  }
}

extension Coordinator {
  /// The keyspace with the rows of an entity, or with their touches.
  fileprivate func keyspace(_ entity: String, touches: Bool = false) throws -> Keyspace {
    let engine = try #require(store.engine)
    let head = try #require(try engine.table(0))
    let schema = try Schema(#require(try engine.store.get(.integer(2), in: head.rows)))
    let number = try #require(schema.entities.first { $0.name == entity }).number
    let table = try #require(try engine.table(number))
    return touches ? table.touches : table.rows
  }

  fileprivate func rows(_ entity: String, touches: Bool = false) throws -> [Cairn.Row] {
    let keyspace = try keyspace(entity, touches: touches)
    return try #require(store.engine).store.snapshot().rows(in: keyspace)
  }

  /// The conflict with which a save of a change fails.
  fileprivate func conflict(_ change: (NSManagedObjectContext) throws -> Void) throws -> NSMergeConflict {
    let failure = work { context in
      error {
        try change(context)
        try context.save()
      }
    }
    #expect(failure?.code == NSManagedObjectMergeError)
    let conflicts = failure?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    return try #require(conflicts?.first)
  }
}
