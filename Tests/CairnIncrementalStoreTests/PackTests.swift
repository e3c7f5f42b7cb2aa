import Cairn
@testable import CairnIncrementalStore
import CoreData
import RowFormat
import Testing

/// How relationships are stored in packs, seen from the engine.
@Suite struct PackTests {
  private let library = Library()

  /// A shelf with this many books, saved together.
  private func fill(_ library: Coordinator, _ count: Int, _ relationship: String) throws -> NSManagedObject {
    try library.work { context in
      let shelf = context.insert("Shelf")
      for _ in 0..<count { context.insert("Book").setValue(shelf, forKey: relationship) }
      try context.save()
      return shelf
    }
  }

  private func sequences(_ packs: [Cairn.Row]) -> Set<CommitSequence> { Set(packs.map(\.sequence)) }

  @Test(arguments: ["shelf", "rowOf"])
  func oneMoreMemberWritesOnePackAndTwoWhereItSplits(_ relationship: String) throws {
    let writer = try library.coordinator()
    let shelf = try fill(writer, 5000, relationship)
    var splits = 0
    for _ in 0..<300 {
      let before = try writer.packs()
      let last = writer.store.statistics?.lastSequence ?? 0
      try writer.work { context in
        context.insert("Book").setValue(shelf, forKey: relationship)
        try context.save()
      }
      let after = try writer.packs()
      let written = after.filter { $0.sequence > last }
      #expect(written.count == 1 || written.count == 2 && after.count == before.count + 1)
      splits += written.count - 1
    }
    #expect(splits > 0)
  }

  @Test func aManyToManyMemberIsWrittenInBothDirections() throws {
    let writer = try library.coordinator()
    try writer.work { context in
      let shelves = (0..<40).map { _ in context.insert("Shelf") }
      for _ in 0..<400 { context.insert("Book").setValue(Set(shelves), forKey: "tags") }
      try context.save()
      let last = writer.store.statistics?.lastSequence ?? 0
      let book = context.insert("Book")
      book.mutableSetValue(forKey: "tags").add(shelves[20])
      try context.save()
      let written = try writer.packs().filter { $0.sequence > last }
      #expect((1...4).contains(written.count))
    }
    let reader = try library.coordinator()
    try reader.work { context in
      let books = try context.all("Book")
      #expect(books.map { ($0.value(forKey: "tags") as! Set<NSManagedObject>).count }.reduce(0, +) == 16_001)
      let shelves = try context.all("Shelf")
      #expect(shelves.map { ($0.value(forKey: "tagged") as! Set<NSManagedObject>).count }.reduce(0, +) == 16_001)
    }
  }

  @Test func packsAreNeitherTooFullNorNearlyEmpty() throws {
    let writer = try library.coordinator()
    let shelf = try fill(writer, 10_000, "shelf")
    #expect(try writer.packs().count <= 10_000 / PackEditor.mostEntries + 1)
    try writer.work { context in
      let books = (shelf.value(forKey: "books") as! Set<NSManagedObject>).sorted {
        $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
      }
      for (number, book) in books.enumerated() where !number.isMultiple(of: 10) { context.delete(book) }
      try context.save()
    }
    let counts = try writer.packs().map { try Pack.entries($0.value).count }
    #expect(counts.reduce(0, +) == 1000)
    #expect(counts.allSatisfy { $0 <= PackEditor.mostEntries })
    #expect(counts.dropLast().allSatisfy { $0 >= PackEditor.fewestEntries / 2 })
  }

  @Test func membersInTheMiddleOfAnOrderTakeTheRoomBetweenAndThenAllAreRenumbered() throws {
    let writer = try library.coordinator()
    let shelf = try fill(writer, 50, "rowOf")
    try writer.work { context in
      let row = shelf.mutableOrderedSetValue(forKey: "row")
      var expected = row.array as! [NSManagedObject]
      for _ in 0..<40 {
        let book = context.insert("Book")
        row.insert(book, at: 25)
        expected.insert(book, at: 25)
        try context.save()
      }
      let reader = try library.coordinator()
      try reader.work { other in
        let copy = try #require(try other.all("Shelf").first)
        let ids = (copy.value(forKey: "row") as! NSOrderedSet).array.map { ($0 as! NSManagedObject).objectID }
        #expect(ids == expected.map(\.objectID))
      }
    }
  }

  @Test func membersMovedInAnOrderStayMembersOnce() throws {
    let writer = try library.coordinator()
    let shelf = try fill(writer, 20, "rowOf")
    try writer.work { context in
      let row = shelf.mutableOrderedSetValue(forKey: "row")
      row.moveObjects(at: IndexSet([3, 7, 19]), to: 0)
      let expected = (row.array as! [NSManagedObject]).map(\.objectID)
      try context.save()
      let reader = try library.coordinator()
      try reader.work { other in
        let copy = try #require(try other.all("Shelf").first)
        #expect(
          (copy.value(forKey: "row") as! NSOrderedSet).array.map { ($0 as! NSManagedObject).objectID } == expected)
      }
    }
  }

  @Test func deletingThroughCoreDataAndCompactingShrinksTheFiles() throws {
    let writer = try library.coordinator([CairnCompactionOption: NSNumber(value: false)])
    let shelf = try writer.work { context in
      let shelf = context.insert("Shelf", ["name": "kept"])
      for number in 0..<20_000 {
        let book = context.insert("Book", ["title": "\(number)", "author": String(repeating: "\(number) ", count: 20)])
        book.setValue(shelf, forKey: "shelf")
      }
      try context.save()
      return shelf
    }
    let kept = try writer.work { context in
      let books = try context.all("Book")
      for book in books.dropFirst(100) { context.delete(book) }
      try context.save()
      return Set(books.prefix(100).map(\.objectID))
    }
    let before = try #require(writer.store.statistics)
    try writer.store.compact()
    let after = try #require(writer.store.statistics)
    #expect(after.logBytes * 10 < before.logBytes)
    #expect(try writer.packs().count < 10)
    try writer.close()
    let reader = try library.coordinator()
    try reader.work { context in
      let books = try context.all("Book")
      #expect(Set(books.map(\.objectID)) == kept)
      let copy = try #require(try context.all("Shelf").first)
      #expect(copy.objectID == shelf.objectID)
      #expect((copy.value(forKey: "books") as! Set<NSManagedObject>) == Set(books))
      let node = try reader.store.newValuesForObject(with: copy.objectID, with: context)
      #expect(node.version == 2)
    }
  }
}
