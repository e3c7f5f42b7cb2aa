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
}
