import Foundation
import OpenCoreData
import Testing

@Suite("Mutable ordered sets of a relationship")
struct KeptOrderedSetTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("A mutable ordered set keeps its object alive.")
  func owner() throws {
    try family.run { context, other in
      let id = try {
        let shelf = other.make("Shelf", "Left")
        try other.save()
        return shelf.objectID
      }()
      let books = context.object(with: id).mutableOrderedSetValue(forKey: "books")
      books.add(context.make("Book", "Emma"))
      try context.save()
      #expect(context.object(with: id).names("books") == ["Emma"])
    }
  }

  @Test("A mutable ordered set shows and changes the relationship after a rollback and a refresh.")
  func rollback() throws {
    try family.run { context, _ in
      let shelf = context.make("Shelf", "Left")
      let (one, two) = (context.make("Book", "Emma", ["shelf": shelf]), context.make("Book", "Persuasion"))
      two["shelf"] = context.make("Shelf", "Right")
      try context.save()
      let books = shelf.mutableOrderedSetValue(forKey: "books")
      books.add(two)
      context.rollback()
      #expect(books.count == 1)
      #expect(books.object(at: 0) as? NSManagedObject === one)
      #expect(books.index(of: two) == NSNotFound)
      books.add(two)
      #expect(shelf.names("books") == ["Emma", "Persuasion"])
      #expect(two["shelf"] as? NSManagedObject === shelf)
      context.refresh(shelf, mergeChanges: false)
      books.remove(one)
      #expect(shelf.mutableOrderedSetValue(forKey: "books").index(of: one) == NSNotFound)
      #expect(one["shelf"] == nil)
    }
  }
}
