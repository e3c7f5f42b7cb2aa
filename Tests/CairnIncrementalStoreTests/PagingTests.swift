import CairnIncrementalStore
import CoreData
import Testing

/// Fetches in pages, and fetches of the objects that a predicate names.
@Suite struct PagingTests {
  private let library = Library()
  private let writer: Coordinator
  private let ids: [NSManagedObjectID]

  init() throws {
    writer = try library.coordinator()
    ids = try writer.work { (context) throws in
      let books = (0..<250).map { context.insert($0.isMultiple(of: 3) ? "Comic" : "Book", ["title": "\($0)"]) }
      try context.obtainPermanentIDs(for: books)
      try context.save()
      return books.map(\.objectID)
    }
  }

  private func pages(of count: Int) throws -> [[NSManagedObjectID]] {
    try writer.work { (context) throws in
      var pages: [[NSManagedObjectID]] = []
      while true {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.fetchLimit = count
        request.predicate = pages.last?.last.map { NSPredicate(format: "SELF > %@", $0) }
        let page = try context.fetch(request).map(\.objectID)
        if page.isEmpty { return pages }
        pages.append(page)
      }
    }
  }

  @Test func aStoreIsReadPageByPageBehindTheLastObject() throws {
    let pages = try pages(of: 100)
    #expect(pages.map(\.count) == [100, 100, 50])
    #expect(pages.flatMap { $0 } == ids)
  }

  @Test func pendingChangesAreInTheirPages() throws {
    try writer.work { (context) throws in
      context.delete(context.object(with: ids[3]))
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "SELF > %@", ids[1])
      request.fetchLimit = 3
      let page = try context.fetch(request)
      #expect(page.map(\.objectID) == [ids[2], ids[4], ids[5]])
    }
  }

  @Test func namedObjectsAreFoundAndNoOthers() throws {
    try writer.work { (context) throws in
      let some = [ids[7], ids[200], ids[3]]
      let found = try context.all("Book", "SELF IN %@", some)
      #expect(Set(found.map(\.objectID)) == Set(some))
      let one = try context.all("Book", "SELF == %@", ids[9])
      #expect(one.map(\.objectID) == [ids[9]])
      let none = try context.all("Shelf", "SELF == %@", ids[9])
      #expect(none.isEmpty)
      let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(format: "SELF IN %@", some), NSPredicate(format: "title == '200'"),
      ])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = both
      let page = try context.fetch(request)
      #expect(page.map(\.objectID) == [ids[200]])
      request.predicate = NSCompoundPredicate(orPredicateWithSubpredicates: both.subpredicates)
      #expect(try context.count(for: request) == 3)
      request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "SELF IN %@", some))
      #expect(try context.count(for: request) == 247)
    }
  }

  @Test func aSortWithALimitGivesTheFirstOfAll() throws {
    try writer.work { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
      request.fetchOffset = 5
      request.fetchLimit = 5
      let titles = try context.fetch(request).map { $0.value(forKey: "title") as! String }
      let all = (0..<250).map { String($0) }.sorted(by: >)
      #expect(titles == Array(all[5..<10]))
    }
  }
}
