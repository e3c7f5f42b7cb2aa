import CoreData
import Testing

@Suite("Dictionaries made by a store", .anyStore)
struct StoreDictionaryTests {
  private let stack: Stack<RecordingStore>
  private let request = NSFetchRequest<NSDictionary>(entityName: "Person")

  init() throws {
    stack = try Stack()
    request.resultType = .dictionaryResultType
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
  }

  private func fetch() throws -> [NSDictionary] { try stack.work { try $0.fetch(request) } }

  private func computed(_ name: String, _ format: String) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    description.expressionResultType = .integer64AttributeType
    return description
  }

  @Test("Fetched dictionaries have properties and identifiers of related objects, and no keys for nil.")
  func properties() throws {
    request.propertiesToFetch = ["name", "home", "home.street", computed("next", "age + 1")]
    let found = try fetch()
    #expect(found.map { $0["name"] as? String } == ["Cleo", "Bob", "Ada"])
    #expect(found[0].count == 2 && found[1].count == 4)
    #expect(found[1]["home"] as? NSManagedObjectID == stack.store.identifier(4))
    #expect(found[2]["home.street"] as? String == "Elm" && found[2]["next"] as? Int == 37)
  }

  @Test("Fetched dictionaries have all attributes unless the request names some.")
  func everything() throws {
    request.includesSubentities = false
    #expect(Set(try fetch()[0].allKeys as! [String]) == ["name", "age"])
  }

  @Test("A fetch of aggregates alone returns one dictionary of all rows.")
  func aggregates() throws {
    request.propertiesToFetch = [
      computed("sum", "sum:(age)"), computed("most", "max:(age)"), computed("least", "min:(age)"),
      computed("number", "count:(home)"), computed("spread", "max:(age) - min:(age)"),
    ]
    #expect(try fetch() == [["sum": 68, "most": 36, "least": 7, "number": 2, "spread": 29]])
    request.predicate = NSPredicate(format: "age > 100")
    request.propertiesToFetch = [computed("sum", "sum:(age)"), computed("number", "count:(age)")]
    #expect(try fetch() == [["sum": 0, "number": 0]])
  }

  @Test("A grouped fetch returns one dictionary for each group that satisfies the predicate for groups.")
  func groups() throws {
    request.propertiesToFetch = ["home.street", computed("number", "count:(name)")]
    request.propertiesToGroupBy = ["home.street"]
    request.sortDescriptors = [NSSortDescriptor(key: "home.street", ascending: true)]
    #expect(try fetch() == [["number": 1], ["home.street": "Elm", "number": 2]])
    request.havingPredicate = NSPredicate(format: "$number > 1")
    #expect(try fetch() == [["home.street": "Elm", "number": 2]])
    request.havingPredicate = NSPredicate(format: "home.street = nil AND max:(age) = 7")
    #expect(try fetch() == [["number": 1]])
  }

  @Test("A fetch of distinct dictionaries returns each once, before offset and limit apply.")
  func distinct() throws {
    request.propertiesToFetch = ["home.street"]
    #expect(try fetch().count == 3)
    request.returnsDistinctResults = true
    #expect(try fetch() == [[:], ["home.street": "Elm"]])
    (request.fetchOffset, request.fetchLimit) = (1, 1)
    #expect(try fetch() == [["home.street": "Elm"]])
    #expect(try stack.work { try $0.count(for: request) } == 1)
  }

  @Test("A fetch of dictionaries refuses a to-many relationship.")
  func toMany() {
    let wanted = people()
    (wanted.entity, wanted.resultType) = (stack.store.entity("Person"), .dictionaryResultType)
    wanted.propertiesToFetch = ["friends"]
    // Call the store directly: the context would refuse the request itself.
    stack.work { context in
      #expect(thrown { try stack.store.execute(wanted, with: context) }?.domain == NSCocoaErrorDomain)
    }
  }
}
