import Foundation
import OpenCoreData
import Testing

@Suite("The order of texts")
struct TextOrderTests {
  /// Texts in ascending order. Some have letters of several scalars.
  private static let ascending = [
    "", "e", "e\u{301}", "\u{E9}1", "e\u{301}s", "\u{E9}t", "\u{431}", "a\u{323}\u{301}", "\u{1EA1}\u{301}z",
    "\u{4E2D}", "\u{1112}\u{1161}\u{11AB}", "\u{D55C}12", "\u{1112}\u{1161}\u{11AB}a",
  ]

  private func evaluates(_ left: String, _ sign: String, _ right: String) -> Bool {
    NSPredicate(format: "%@ \(sign) %@", left, right).evaluate(with: nil)
  }

  @Test("Predicates order texts by their composed scalars, whatever their form.")
  func predicates() {
    for (place, left) in Self.ascending.enumerated() {
      for (other, right) in Self.ascending.enumerated() {
        #expect(evaluates(left, "<", right) == (place < other), "\(left) < \(right)")
        #expect(evaluates(left, "<=", right) == (place <= other), "\(left) <= \(right)")
        #expect(evaluates(left, ">", right) == (place > other), "\(left) > \(right)")
        #expect(evaluates(left, "==", right) == (place == other), "\(left) == \(right)")
      }
    }
  }

  @Test("Sort descriptors order texts by their composed scalars, whatever their form.")
  func sorting() throws {
    let entity = NSEntityDescription()
    entity.name = "Word"
    let text = NSAttributeDescription()
    (text.name, text.attributeType) = ("text", .stringAttributeType)
    entity.properties = [text]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for text in Self.ascending.shuffled() {
        NSManagedObject(entity: entity, insertInto: context).setValue(text, forKey: "text")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Word")
      request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
      let found = try context.fetch(request).map { $0.value(forKey: "text") as? String }
      #expect(found.map { $0.map { Array($0.utf8) } } == Self.ascending.map { Array($0.utf8) })
    }
  }
}
