import CoreData
import Foundation
import Testing

import class OpenCoreData.NSComparisonPredicate

/// This file imports Foundation too, as most files of applications do.
@Suite struct FoundationBesideTests {
  @Test("Predicates and sort descriptors are the same types in files that import Foundation.")
  func types() throws {
    let predicate: NSPredicate = NSPredicate(format: "name = %@ AND age > %d", "x", 3)
    let parts: [NSPredicate] = try #require(predicate as? NSCompoundPredicate).subpredicates
    let and: NSCompoundPredicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    let sort: NSSortDescriptor = NSSortDescriptor(key: "name", ascending: true)
    #expect(and.evaluate(with: ["name": "x", "age": 4]))
    #expect(sort.key == "name")
    #expect(and == predicate)
  }

  @Test("Importing the class resolves an ambiguous name.")
  func importedClass() {
    let predicate = NSPredicate(format: "a = 1")
    let comparison = predicate as? NSComparisonPredicate
    #expect(comparison?.predicateOperatorType == .equalTo)
  }

  @Test("The name of the module resolves an ambiguous name.")
  func qualifiedName() {
    let path: OpenCoreData.NSExpression? = (NSPredicate(format: "a = 1") as? NSComparisonPredicate)?.leftExpression
    #expect(path?.keyPath == "a")
    let made = OpenCoreData.NSExpression(forKeyPath: "a")
    #expect(made == path)
  }

  @Test("Foundation's collections filter and sort by our predicates and descriptors.")
  func collections() {
    let rows: NSArray = [["n": 2], ["n": 3], ["n": 1]]
    let found = rows.filtered(using: NSPredicate(format: "n > 1"))
    #expect((found as? [[String: Int]])?.map { $0["n"] } == [2, 3])
    let set = NSSet(array: [1, 2, 3]).filtered(using: NSPredicate(format: "SELF IN {1, 2}"))
    #expect(Set(set.compactMap { $0.base as? Int }) == [1, 2])
    let sorted = rows.sortedArray(using: [NSSortDescriptor(key: "n", ascending: false)])
    #expect((sorted as? [[String: Int]])?.map { $0["n"] } == [3, 2, 1])
  }
}
