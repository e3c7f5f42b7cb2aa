import CairnIncrementalStore
import CoreData
import Testing

@Suite struct ForeignIdentifierTests {
  @Test func anIdentifierOfAnotherCoordinatorLeadsToAnObjectThatIsSaved() throws {
    let library = Library()
    let (mine, theirs) = (try library.coordinator(), try library.coordinator())
    let book = try mine.work { context in
      let book = context.insert("Book", ["title": "Emma"])
      try context.save()
      return book
    }
    try theirs.work { context in
      let other = context.its(book)
      #expect(other.objectID == book.objectID && other.objectID.persistentStore === theirs.store)
      #expect(other.entity === theirs.coordinator.managedObjectModel.entitiesByName["Book"])
      other.setValue("Emma!", forKey: "title")
      try context.save()
    }
    let reader = try library.coordinator()
    try reader.work { context in
      let titles = try context.all("Book").map { $0.value(forKey: "title") as? String }
      #expect(titles == ["Emma!"])
    }
  }
}
