import Cairn
@testable import CairnIncrementalStore
import CoreData
import Dispatch
import Foundation
@testable import IncrementalStore
import Synchronization
import Testing

@Suite("Rows of objects whose relationships change at the other end")
struct TouchTests {
  private let library = Library()

  @Test("A new member does not write the row of its owner again, but raises the version of the owner.")
  func newMember() throws {
    let (one, other) = (try library.coordinator(), try library.coordinator())
    let shelf = try one.shelf()
    other.work { _ = $0.its(shelf).value(forKey: "name") }
    try one.addBook("Emma", to: shelf)
    #expect(try one.rows("Shelf").map(\.version) == [1])
    let conflict = try other.conflict { $0.its(shelf).setValue("B", forKey: "name") }
    #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
    #expect(conflict.persistedSnapshot?["name"] as? String == "A")
  }

  @Test("An object keeps the count of its touches when it is written again, and when the store is reopened.")
  func version() throws {
    let one = try library.coordinator()
    let shelf = try one.shelf()
    for title in ["Emma", "Persuasion"] { try one.addBook(title, to: shelf) }
    try one.rename(shelf, "B")
    #expect(try one.rows("Shelf").map(\.version) == [2])
    #expect(try one.rows("Shelf", touches: true).map(\.version) == [2])
    try one.close()
    let (next, other) = (try library.coordinator(), try library.coordinator())
    next.work { _ = $0.its(shelf).value(forKey: "name") }
    try other.rename(shelf, "C")
    let conflict = try next.conflict { $0.its(shelf).setValue("D", forKey: "name") }
    #expect(conflict.oldVersionNumber == 4 && conflict.newVersionNumber == 5)
  }

  @Test("An object that was never read conflicts if its row is gone when it gets a member.")
  func gone() throws {
    let (one, other) = (try library.coordinator(), try library.coordinator())
    let shelf = try one.shelf()
    try one.work { context in
      context.delete(shelf)
      try context.save()
    }
    let conflict = try other.conflict { context in
      _ = context.insert("Book", ["title": "Emma", "shelf": context.its(shelf)])
    }
    #expect(conflict.newVersionNumber == 0 && conflict.sourceObject.objectID == shelf.objectID)
    #expect(try one.work { try $0.all("Book") }.isEmpty)
  }

  @Test("An object that was never read has the raised version after a save, whether or not its row is in the cache.")
  func neverRead() throws {
    let one = try library.coordinator()
    let shelf = try one.shelf()
    let other = try library.coordinator()
    for (number, reader) in [one, other].enumerated() {
      try reader.work { context in
        context.reset()
        _ = context.insert("Book", ["title": "\(number)", "shelf": context.its(shelf)])
        try context.save()
        let node = try reader.store.newValuesForObject(with: shelf.objectID, with: context)
        #expect(node.version == UInt64(number) + 2)
        #expect(context.its(shelf).value(forKey: "name") as? String == "A")
      }
    }
  }

  @Test("A touch of an object that was never read is an update of its relationship in the history.")
  func history() throws {
    let one = try library.coordinator([NSPersistentHistoryTrackingKey: true as NSNumber])
    let shelf = try one.shelf()
    try one.work { context in
      context.reset()
      _ = context.insert("Book", ["title": "Emma", "shelf": context.its(shelf)])
      try context.save()
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
      request.resultType = .changesOnly
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let changes = result?.result as? [NSPersistentHistoryChange] ?? []
      let last = changes.last { $0.changedObjectID == shelf.objectID }
      #expect(last?.changeType == .update && last?.updatedProperties?.map(\.name) == ["books"])
    }
  }

  @Test("A fetch reads the touches of all rows that it finds, whatever is saved meanwhile.")
  func fetched() throws {
    let (one, other) = (try library.coordinator(), try library.coordinator())
    let shelf = try one.shelf()
    try other.addBook("Emma", to: shelf)
    try one.work { (context) throws in
      context.refresh(shelf, mergeChanges: false)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
      request.returnsObjectsAsFaults = false
      request.predicate = NSPredicate(format: "name == 'A'")
      #expect(try context.fetch(request) == [shelf])
    }
    try one.rename(shelf, "B")
    #expect(try one.rows("Shelf").map(\.version) == [2])
  }

  @Test("Deleting an object deletes its touches; an object that was never touched has none.")
  func deleted() throws {
    let one = try library.coordinator()
    let shelves = [try one.shelf(), try one.shelf()]
    try one.addBook("Emma", to: shelves[0])
    #expect(try one.rows("Shelf", touches: true).count == 1)
    try one.work { context in
      shelves.forEach(context.delete)
      try context.save()
    }
    #expect(try one.rows("Shelf") == [])
    #expect(try one.rows("Shelf", touches: true) == [])
  }

  @Test("A store that is opened only for reading has the versions of touched objects, and of objects never touched.")
  func readOnly() throws {
    let one = try library.coordinator()
    let shelf = try one.shelf()
    try one.close()
    for version in [1, 2] as [UInt64] {
      let reader = try library.coordinator([NSReadOnlyPersistentStoreOption: true])
      let node = try reader.work { try reader.store.newValuesForObject(with: $0.its(shelf).objectID, with: $0) }
      #expect(node.version == version)
      try reader.close()
      let writer = try library.coordinator()
      try writer.addBook("Emma \(version)", to: shelf)
      try writer.close()
    }
  }

  @Test("Two threads that touch one object conflict, and lose no touch.")
  func threads() throws {
    let one = try library.coordinator()
    let shelf = try one.shelf()
    let id = shelf.objectID
    nonisolated(unsafe) let writers = try (0..<2).map { _ in try library.coordinator() }
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      let writer = unsafe writers[number]
      writer.work { context in
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for round in 0..<50 {
          _ = context.insert("Book", ["title": "\(number) \(round)", "shelf": context.object(with: id)])
          while code({ try context.save() }) == NSManagedObjectMergeError {}
        }
      }
    }
    #expect(try one.rows("Book").count == 100)
    #expect(try one.rows("Shelf").map(\.version) == [1])
    #expect(try one.rows("Shelf", touches: true).map(\.version) == [100])
  }

  @Test("A row that is read while it is touched for the first time, and written again, is of one state.")
  func firstTouch() throws {
    for _ in 0..<20 {
      // Removes its files when it is freed.
      let library = Library()
      defer { withExtendedLifetime(library) {} }
      let one = try library.coordinator()
      _ = try one.shelf()
      let rows = try #require(one.store.rows as? CairnRowStore)
      let table = try one.number(of: "Shelf")
      let first = try #require(try rows.row(.integer(1), in: table))
      let versions = Mutex([first.revision: first.version])
      let isOver = Mutex(false)
      let found = Mutex<[StoredRow]>([])
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        guard number == 0 else {
          while !isOver.withLock({ $0 }) {
            guard let row = try? rows.row(.integer(1), in: table) else { continue }
            found.withLock { found in
              let isSame = found.last.map { $0.revision == row.revision && $0.version == row.version } ?? false
              if !isSame { found.append(row) }
            }
          }
          return
        }
        for step in 1...20 {
          let revision = try? rows.save { snapshot in
            let row = try snapshot.row(.integer(1), in: table)
            var changes = RowChanges()
            let change = step % 2 == 1 ? RowChanges.Row.Change.touch : .put(first.bytes)
            changes.rows = [
              RowChanges.Row(table: table, reference: .integer(1), change: change, revision: row?.revision)
            ]
            return changes
          }
          if let revision { versions.withLock { $0[revision] = first.version + UInt64(step) } }
        }
        isOver.withLock { $0 = true }
      }
      let expected = versions.withLock { $0 }
      #expect(expected.count == 21)
      #expect(found.withLock { $0 }.allSatisfy { expected[$0.revision] == $0.version })
    }
  }

  @Test("A save fails if another program has touched or written the row of an object since it was read.")
  func writtenBefore() throws {
    let one = try library.coordinator()
    let shelf = try one.shelf()
    for touches in [true, false] {
      try one.writeAgain("Shelf", touches: touches)
      _ = try one.conflict { _ in shelf.setValue("B", forKey: "name") }
      one.work { $0.refresh(shelf, mergeChanges: false) }
    }
  }

  @Test(
    "A save plans its changes again if another program touches or writes the row of an object while it plans.",
    arguments: [RowChanges.Row.Change.put([1]), .touch, .delete], [true, false])
  func writtenBetween(_ change: RowChanges.Row.Change, _ touches: Bool) throws {
    let one = try library.coordinator()
    _ = try one.shelf()
    let rows = try #require(one.store.rows as? CairnRowStore)
    let table = try one.number(of: "Shelf")
    let reference = RowReference.integer(1)
    var plans = 0
    _ = try rows.save { snapshot in
      let row = try #require(try snapshot.row(reference, in: table))
      plans += 1
      if plans == 1 { try one.writeAgain("Shelf", touches: touches) }
      var changes = RowChanges()
      changes.rows = [RowChanges.Row(table: table, reference: reference, change: change, revision: row.revision)]
      return changes
    }
    #expect(plans == 2)
    #expect(try rows.snapshot().row(reference, in: table)?.version == (change == .delete ? nil : 3))
    #expect(try change != .delete || one.rows("Shelf", touches: true) == [])
  }

  @Test("A store whose touches are in an ordered keyspace is refused, and can be opened by others.")
  func ordered() throws {
    let store = try Store.open(at: library.url.path)
    for name in ["table 0", "touches 0"] { try store.put([1], at: .integer(1), in: store.keyspace(name)) }
    try store.close()
    let failure = error { _ = try library.coordinator() }
    #expect(failure?.domain == NSCocoaErrorDomain && failure?.code == NSPersistentStoreOperationError)
    #expect((failure?.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .orderMismatch)
    try Store.open(at: library.url.path).close()
  }
}

extension Coordinator {
  /// A new shelf, saved.
  fileprivate func shelf() throws -> NSManagedObject {
    try work { context in
      let shelf = context.insert("Shelf", ["name": "A"])
      try context.save()
      return shelf
    }
  }

  fileprivate func addBook(_ title: String, to shelf: NSManagedObject) throws {
    try work { context in
      _ = context.insert("Book", ["title": title, "shelf": context.its(shelf)])
      try context.save()
    }
  }

  fileprivate func rename(_ shelf: NSManagedObject, _ name: String) throws {
    try work { context in
      context.its(shelf).setValue(name, forKey: "name")
      try context.save()
    }
  }

  /// The number of an entity in the schema of the store.
  fileprivate func number(of entity: String) throws -> UInt32 {
    let engine = try #require(store.engine)
    let head = try #require(try engine.table(0))
    let schema = try Schema(#require(try engine.store.get(.integer(2), in: head.rows)))
    return try #require(schema.entities.first { $0.name == entity }).number
  }

  /// The keyspace with the rows of an entity, or with their touches.
  fileprivate func keyspace(_ entity: String, touches: Bool = false) throws -> Keyspace {
    let number = try number(of: entity)
    let engine = try #require(store.engine)
    let table = try #require(try engine.table(number))
    return touches ? table.touches : table.rows
  }

  /// Writes the only row of an entity, or its touches, as a program does that uses the engine.
  fileprivate func writeAgain(_ entity: String, touches: Bool) throws {
    let engine = try #require(store.engine)
    let row = try #require(try rows(entity).first)
    try engine.store.put(touches ? [] : row.value, at: row.key, in: keyspace(entity, touches: touches))
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
