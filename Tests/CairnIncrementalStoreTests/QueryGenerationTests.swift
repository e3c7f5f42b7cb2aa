import Cairn
@testable import CairnIncrementalStore
import CoreData
import IncrementalStore
import Testing

@Suite("Contexts that are pinned to a state of their stores")
struct QueryGenerationTests {
  private let library = Library()
  private let shared: Coordinator

  init() throws {
    shared = try library.coordinator()
    try shared.work { context in
      let shelf = context.insert("Shelf", ["name": "novels"])
      for title in ["Emma", "Persuasion"] { _ = context.insert("Book", ["title": title, "shelf": shelf]) }
      try context.save()
    }
  }

  private func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = shared.coordinator
    return context
  }

  /// Runs a closure with a context that is pinned to the present state.
  private func pinned(_ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = context()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try context.titles() == ["Emma", "Persuasion"])
      try body(context)
    }
  }

  /// Deletes a book, renames another, and adds a third to the shelf.
  private func change() throws { try shared.work { try change($0) } }

  private func change(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      context.delete(try context.all("Book", "title = %@", "Emma")[0])
      try context.all("Book", "title = %@", "Persuasion")[0]["title"] = "Anne"
      _ = context.insert("Book", ["title": "Lady Susan", "shelf": try context.all("Shelf")[0]])
      try context.save()
    }
  }

  @Test("Fetches, counts, faults and relationships of a pinned context show its state.")
  func reading() throws {
    try pinned { context in
      let faults = try context.all("Book", "title != %@", "")
      context.refreshAllObjects()
      try change()
      #expect(try context.titles() == ["Emma", "Persuasion"])
      #expect(faults.compactMap { $0["title"] as? String }.sorted() == ["Emma", "Persuasion"])
      #expect(try context.count(for: books()) == 2)
      #expect(try context.all("Book", "title = %@", "Anne").isEmpty)
      #expect(try context.all("Book", "title = %@", "Persuasion").count == 1)
      #expect((try context.all("Shelf")[0]["books"] as? NSSet)?.count == 2)
      try context.setQueryGenerationFrom(nil)
      context.refreshAllObjects()
      #expect(try context.titles() == ["Anne", "Lady Susan"])
    }
  }

  @Test("A context is pinned at its first read, and gives others its token.")
  func token() async throws {
    let (first, second) = (context(), context())
    let token = try first.performAndWait {
      #expect(first.queryGenerationToken == nil)
      try first.setQueryGenerationFrom(.current)
      #expect(first.queryGenerationToken === NSQueryGenerationToken.current)
      _ = try first.titles()
      return try #require(first.queryGenerationToken)
    }
    #expect(token !== NSQueryGenerationToken.current)
    try change()
    try second.performAndWait {
      #expect(try second.titles() == ["Anne", "Lady Susan"])
      try second.setQueryGenerationFrom(token)
      second.refreshAllObjects()
      #expect(try second.titles() == ["Emma", "Persuasion"])
      #expect(second.queryGenerationToken === token)
    }
  }

  @Test("What a pinned context reads does not get into the row cache, nor is it taken from there.")
  func cache() throws {
    let theirs = try library.coordinator()
    try theirs.work { context in
      try context.setQueryGenerationFrom(.current)
      #expect(try context.count(for: books()) == 2)
      // Through another coordinator, so that the cache has none of the rows.
      try change()
      let old = try context.all("Book", "title = %@", "Persuasion")[0]
      #expect(old["title"] as? String == "Persuasion")
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = theirs.coordinator
      other.performAndWait { #expect(other.its(old)["title"] as? String == "Anne") }
      context.refreshAllObjects()
      #expect(old["title"] as? String == "Persuasion")
    }
  }

  @Test("A pinned context compares with what was saved last when it saves, and is pinned to that afterwards.")
  func saving() throws {
    try pinned { context in
      let persuasion = try context.all("Book", "title = %@", "Persuasion")[0]
      try change()
      persuasion["author"] = "Jane Austen"
      #expect(code { try context.save() } == NSManagedObjectMergeError)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(try context.titles() == ["Anne", "Lady Susan"])
      #expect(persuasion["title"] as? String == "Anne")
      try shared.work { other in
        other.delete(try other.all("Book", "title = %@", "Lady Susan")[0])
        try other.save()
      }
      #expect(try context.titles() == ["Anne", "Lady Susan"])
    }
  }

  @Test("A merge and a reset take a pinned context to what was saved last.", arguments: [true, false])
  func advancing(_ merges: Bool) throws {
    try pinned { context in
      try change()
      if merges {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [:], into: [context])
      } else {
        context.reset()
      }
      #expect(try context.titles() == ["Anne", "Lady Susan"])
    }
  }

  @Test("Children and asynchronous fetches read the state of the context.")
  func descendants() async throws {
    let context = context()
    let request = books()
    try await context.perform {
      try context.setQueryGenerationFrom(.current)
      _ = try context.titles()
      try change()
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = context
      try child.performAndWait { () throws in
        #expect(try child.titles() == ["Emma", "Persuasion"])
        #expect(try child.all("Shelf").compactMap { ($0["books"] as? NSSet)?.count } == [2])
        #expect(child.queryGenerationToken === context.queryGenerationToken)
        #expect(code { try child.setQueryGenerationFrom(.current) } == NSPersistentStoreOperationError)
      }
    }
    let found: [String] = try await withCheckedThrowingContinuation { continuation in
      context.perform {
        do {
          let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
            continuation.resume(returning: (result.finalResult ?? []).compactMap { $0["title"] as? String })
          }
          _ = try context.execute(asynchronous)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(found == ["Emma", "Persuasion"])
  }

  @Test("A token of another coordinator is refused; a store that keeps no states leaves contexts unpinned.")
  func refused() throws {
    try pinned { context in
      let other = try Library().coordinator()
      let token = context.queryGenerationToken
      let refusal = other.work { context in code { try context.setQueryGenerationFrom(token) } }
      #expect(refusal == NSPersistentStoreOperationError)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
      try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
      let unpinned = NSManagedObjectContext(.privateQueue)
      unpinned.persistentStoreCoordinator = coordinator
      try unpinned.performAndWait { () throws in
        try unpinned.setQueryGenerationFrom(.current)
        #expect(unpinned.queryGenerationToken == nil)
      }
    }
  }

  @Test("A store that is removed and added again is read as it is, and not in the state of the removed one.")
  func addedAgain() throws {
    try pinned { context in
      let url = try #require(shared.store.url)
      try shared.close()
      #expect(try context.titles().isEmpty)
      try shared.coordinator.addPersistentStore(type: .cairn, at: url)
      try change(self.context())
      context.refreshAllObjects()
      #expect(try context.titles() == ["Anne", "Lady Susan"])
    }
  }

  @Test("Contexts on many threads read the states that they are pinned to while another one saves.")
  func threads() {
    let coordinator = shared.coordinator
    DispatchQueue.concurrentPerform(iterations: 5) { thread in
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      for number in 0..<50 {
        context.performAndWait {
          #expect(throws: Never.self) {
            let shelf = try context.all("Shelf")[0]
            if thread == 0 {
              _ = context.insert("Book", ["title": "\(number)", "shelf": shelf])
              try context.save()
            } else {
              try context.setQueryGenerationFrom(.current)
              context.reset()
              let titles = try context.titles()
              #expect((try context.all("Shelf")[0]["books"] as? NSSet)?.count == titles.count)
            }
          }
        }
      }
    }
  }

  @Test("A row is freed once no context is pinned to a state that has it.")
  func freeing() throws {
    let engine = try #require(shared.store.engine)
    try pinned { context in
      try change()
      #expect(engine.store.statistics.snapshots == 1)
      try context.setQueryGenerationFrom(nil)
      #expect(engine.store.statistics.snapshots == 0)
    }
  }
}

private func books() -> NSFetchRequest<NSManagedObject> {
  let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
  request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
  return request
}

extension NSManagedObjectContext {
  fileprivate func titles() throws -> [String] { try fetch(books()).compactMap { $0["title"] as? String } }
}
