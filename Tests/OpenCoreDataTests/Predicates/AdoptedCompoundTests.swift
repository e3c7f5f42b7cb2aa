import CoreData
import Foundation
import Testing

@Suite("Compounds made from parts")
struct AdoptedCompoundTests {
  private let a = NSPredicate(format: "a = 1")
  private let b = NSPredicate(format: "b = 'x'")

  private func request(_ predicate: NSPredicate) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>()
    request.predicate = predicate
    return request
  }

  /// Expects a predicate that was kept to have the equality, the hash and the format of its parts, even where it is
  /// only known by Foundation's types.
  private func expectKept(_ keep: (NSPredicate) throws -> NSPredicate?) throws {
    let or = NSCompoundPredicate(orPredicateWithSubpredicates: [a, b])
    let one = try keep(NSCompoundPredicate(andPredicateWithSubpredicates: [a, or]))
    let same = try keep(NSCompoundPredicate(andPredicateWithSubpredicates: [a, or]))
    let other = try keep(NSCompoundPredicate(andPredicateWithSubpredicates: [b, or]))
    #expect(one as NSPredicate? == same && one != other)
    #expect(one?.isEqual(same) == true && one?.isEqual(other) == false)
    #expect([one, other].firstIndex(of: other) == 1)
    #expect(Set([one, same, other]).count == 2)
    let counts = Dictionary(grouping: [one, same, other]) { $0 }.mapValues(\.count)
    #expect(counts[one] == 2 && counts[other] == 1)
    let text = try #require(one).description
    #expect(text == "a == 1 AND (a == 1 OR b == \"x\")")
    #expect((one as? NSCompoundPredicate)?.subpredicates.last?.description == "a == 1 OR b == \"x\"")
  }

  @Test("Compound predicates in fetch requests and their copies are equal and printed by their parts.")
  func requests() throws {
    try expectKept { request($0).predicate }
    try expectKept { (request($0).copy() as? NSFetchRequest<NSManagedObject>)?.predicate }
    try expectKept { predicate in
      let request = NSFetchRequest<NSManagedObject>()
      request.havingPredicate = predicate
      return request.havingPredicate
    }
  }

  @Test("Compound predicates in templates, validations and indexes are equal and printed by their parts.")
  func models() throws {
    try expectKept { predicate in
      let (model, entity) = (NSManagedObjectModel(), NSEntityDescription())
      entity.name = "E"
      model.entities = [entity]
      let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "E")
      template.predicate = predicate
      model.setFetchRequestTemplate(template, forName: "T")
      return model.fetchRequestTemplate(forName: "T")?.predicate
    }
    try expectKept { predicate in
      let attribute = NSAttributeDescription()
      attribute.setValidationPredicates([predicate], withValidationWarnings: ["no"])
      return attribute.validationPredicates.first
    }
    try expectKept { predicate in
      let index = NSFetchIndexDescription(name: "i", elements: [])
      index.partialIndexPredicate = predicate
      return index.partialIndexPredicate
    }
  }

  @Test("Compound predicates in expressions, and with substituted variables, are equal and printed by their parts.")
  func expressions() throws {
    let key = OpenCoreData.NSExpression(forKeyPath: "k")
    try expectKept { predicate in
      OpenCoreData.NSExpression(forSubquery: key, usingIteratorVariable: "x", predicate: predicate).predicate
    }
    try expectKept { predicate in
      OpenCoreData.NSExpression(forConditional: predicate, trueExpression: key, falseExpression: key).predicate
    }
    try expectKept { $0.withSubstitutionVariables([:]) }
  }

  @Test("A compound predicate that needs no change is kept as it is.")
  func identity() {
    let block = NSPredicate { _, _ in true }
    for predicate in [a, block, NSPredicate(value: true), NSPredicate(format: "a = 1 OR NOT b = 2")] {
      #expect(request(predicate).predicate === predicate)
    }
  }

  @Test("A compound predicate hashes all its parts.")
  func hashes() {
    let formats = (0..<100).flatMap {
      ["a = \($0)", "a = 1 AND b[\($0)] = 1", "SUBQUERY(a, $x, $x = \($0)).@count = 1"]
    }
    #expect(Set(formats.map { NSPredicate(format: $0).hash }).count == formats.count)
    #expect(NSPredicate(format: "a = 1 AND b IN {1, 2}").hash == NSPredicate(format: "a == 1.0 && b IN {1, 2}").hash)
  }

  @Test("Two equal predicates with a constant that has no hash have the same hash.")
  func constants() {
    struct Opaque {}
    let predicate = NSPredicate(format: "a = %@ AND b IN %@", Opaque(), Set([1, 2, 3]))
    #expect(Set([predicate, predicate]).count == 1 && predicate.hash == predicate.hash)
    let date = Date()
    #expect(NSPredicate(format: "a = %@", date).hash == NSPredicate(format: "a = %@", date as NSDate).hash)
  }
}
