import Foundation
import OpenCoreData
import Testing

@Suite("Large ordered sets")
struct LargeOrderedSetTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("An ordered set of members equals an array after any changes.", arguments: (1...20).map(UInt64.init))
  func model(seed: UInt64) throws {
    try family.run { context, _ in
      var random = SeededGenerator(seed: seed)
      let shelf = context.make("Shelf", "Left")
      let all = (0..<40).map { context.make("Book", "\($0)") }
      let books = shelf.mutableOrderedSetValue(forKey: "books")
      var model: [NSManagedObject] = []
      for step in 0..<200 {
        let book = all[Int.random(in: 0..<all.count, using: &random)]
        let members = Array(all.shuffled(using: &random).prefix(6))
        let some = NSOrderedSet(array: members)
        switch Int.random(in: 0..<13, using: &random) {
        case 0, 1, 2:
          let index = Int.random(in: 0..<(model.count + 1), using: &random)
          books.insert(book, at: index)
          if !model.contains(book) { model.insert(book, at: index) }
        case 3, 4:
          books.remove(book)
          model.removeAll { $0 === book }
        case 5:
          if model.count > 1 {
            let (one, other) = (
              Int.random(in: 0..<model.count, using: &random), Int.random(in: 0..<model.count, using: &random)
            )
            books.exchangeObject(at: one, withObjectAt: other)
            model.swapAt(one, other)
          }
        case 6:
          books.minus(some)
          model.removeAll { members.contains($0) }
        case 7:
          books.union(some)
          for member in members where !model.contains(member) { model.append(member) }
        case 8:
          shelf.setValue(NSOrderedSet(array: members + model.filter { !members.contains($0) }), forKey: "books")
          model = members + model.filter { !members.contains($0) }
        case 9:
          let indexes = IndexSet((0..<model.count).filter { _ in Bool.random(using: &random) })
          books.removeObjects(at: indexes)
          model = model.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
        case 10:
          let range = model.count / 3..<model.count / 2
          books.removeObjects(in: NSRange(range))
          model.removeSubrange(range)
        case 11:
          books.removeObjects(in: members)
          model.removeAll { members.contains($0) }
        default:
          if step % 7 == 0 { books.removeAllObjects() } else { books.intersect(NSOrderedSet(array: model.reversed())) }
          if step % 7 == 0 { model.removeAll() }
        }
        try #require(books.array.map { $0 as! NSManagedObject } == model, "seed \(seed), step \(step)")
        let shown = (0..<books.count).map { books.object(at: $0) as! NSManagedObject }
        try #require(shown == model, "seed \(seed), step \(step)")
        let kept = try #require(shelf.value(forKey: "books") as? NSOrderedSet)
        try #require(kept.array.map { $0 as! NSManagedObject } == model, "seed \(seed), step \(step)")
        for (index, book) in model.enumerated() {
          try #require(books.index(of: book) == index && book["shelf"] as? NSManagedObject === shelf)
        }
      }
    }
  }

  /// Where each change looked at all members, these would take many minutes.
  @Test("Changing many members of an ordered set takes time proportional to their number.", .timeLimit(.minutes(1)))
  func many() throws {
    let count = 20_000
    try family.run { context, _ in
      let shelf = context.make("Shelf", "Left")
      let all = (0..<count).map { context.make("Book", "\($0)") }
      let books = shelf.mutableOrderedSetValue(forKey: "books")
      for book in all { books.add(book) }
      shelf.setValue(NSOrderedSet(array: all.reversed()), forKey: "books")
      #expect(books.firstObject as? NSManagedObject === all[count - 1])
      for book in all[..<(count / 4)] { books.remove(book) }
      for book in all[(3 * count / 4)...].reversed() { books.remove(book) }
      for book in all[..<(count / 8)] { books.insert(book, at: 0) }
      #expect(books.count == count / 2 + count / 8)
      #expect(books.firstObject as? NSManagedObject === all[count / 8 - 1])
      books.minus(NSOrderedSet(array: Array(all[(count / 2)...])))
      #expect(books.count == count / 4 + count / 8)
      books.removeObjects(at: IndexSet(0..<(count / 4)))
      #expect(books.count == count / 8)
      books.removeAllObjects()
      #expect(books.count == 0)
      #expect(all.allSatisfy { $0["shelf"] == nil })
    }
  }
}
