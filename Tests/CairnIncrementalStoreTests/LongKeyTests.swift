import CairnIncrementalStore
import CoreData
import Testing

@Suite struct LongKeyTests {
  @Test func aTextLongerThanAnyKeyOfTheEngineIsUniqueToo() throws {
    let library = Library()
    let long = String(repeating: "long ", count: 20_000)
    let first = try library.coordinator()
    try first.work { (context) throws in
      _ = context.insert("Book", ["title": long])
      _ = context.insert("Book", ["title": long + "and another"])
      try context.save()
    }
    let second = try library.coordinator()
    try second.work { (context) throws in
      let copy = context.insert("Comic", ["title": long])
      #expect(code { try context.save() } == NSManagedObjectConstraintMergeError)
      copy.setValue(long + "and a third", forKey: "title")
      try context.save()
    }
  }

  /// Packs of such keys reach their limit of bytes while they have few enough entries to be joined.
  @Test func textsOfAlmostTheLongestKeyAreSavedOneByOne() throws {
    let library = Library()
    let titles = (0..<400).map { number in
      let place = String(number * 7919 % 1009)
      return place + String(repeating: "-", count: 190 - place.count)
    }
    try library.coordinator().work { (context) throws in
      for title in titles {
        _ = context.insert("Book", ["title": title])
        try context.save()
      }
    }
    let reader = try library.coordinator()
    try reader.work { (context) throws in
      #expect(Set(try context.all("Book").map { $0.value(forKey: "title") as? String }) == Set(titles))
    }
  }
}
