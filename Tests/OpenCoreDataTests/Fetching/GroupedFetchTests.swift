import Foundation
import Testing

@testable import OpenCoreData

@Suite struct GroupedFetchTests {
  private let staff = Staff()
  private let total = column("total", "sum(salary)")

  private func expect(
    _ reason: FetchRequestError.Reason, _ keyPath: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (NSFetchRequest<NSDictionary>) -> Void
  ) {
    let error = #expect(throws: FetchRequestError.self, sourceLocation: sourceLocation) {
      try staff.compiled(staff.request(change))
    }
    #expect(error?.reason == reason, sourceLocation: sourceLocation)
    #expect(error?.keyPath == keyPath, sourceLocation: sourceLocation)
  }

  /// The totals of salaries by department, for those groups for which the predicate holds.
  private func totals(having predicate: NSPredicate?) throws -> [NSDictionary] {
    try staff.dictionaries {
      $0.propertiesToFetch = ["department.name", total]
      $0.propertiesToGroupBy = ["department.name"]
      $0.havingPredicate = predicate
    }
  }

  private let research: NSDictionary = ["department.name": "Research", "total": 50]
  private let sales: NSDictionary = ["department.name": "Sales", "total": 20]
  private let none: NSDictionary = ["total": 0]

  @Test("Aggregates without groups give one dictionary of all rows.")
  func allRows() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = [
        total, column("number", "count(SELF)"), column("oldest", "max(age)"), column("youngest", "min(age)"),
        column("mean", "average(salary * 2)"), column("spread", "max(age) - min(age)"),
        column("middle", "median(age)"), column("deviation", "stddev(salary)", .integer16AttributeType),
        column("rich", "TERNARY(sum(salary) > 60, 'yes', 'no')"),
      ]
      $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    }
    let all: NSDictionary = [
      "total": 70, "number": 4, "oldest": 51, "youngest": 25, "mean": 140.0 / 3, "spread": 26, "middle": 36,
      "deviation": 4, "rich": "yes",
    ]
    #expect(found == [all])
  }

  @Test(
    "An aggregate may occur anywhere in an expression.",
    arguments: [
      "TERNARY(NOT sum(salary) < 60, 1, 0)", "TERNARY(1 < 2, min(age) - 24, 0)", "max(name).length - 2",
      "({max(age)} UNION {51})[SIZE]", "({3} MINUS {max(age)})[SIZE]", "{2, max(age)}[SIZE] - 1",
    ])
  func anywhere(_ format: String) throws {
    #expect(try staff.dictionaries { $0.propertiesToFetch = [column("one", format)] } == [["one": 1]])
  }

  @Test("Only rows that satisfy the predicate are aggregated; without rows there is still a dictionary.")
  func filtered() throws {
    func found(_ format: String) throws -> [NSDictionary] {
      try staff.dictionaries {
        $0.propertiesToFetch = [
          total, column("number", "count(name)"), column("oldest", "max(age)"), column("modes", "mode(age)"),
        ]
        $0.predicate = NSPredicate(format: format)
      }
    }
    #expect(try found("salary = 20") == [["total": 40, "number": 2, "oldest": 25, "modes": [25]]])
    #expect(try found("salary = 21") == [["total": 0, "number": 0, "modes": [] as [Int]]])
  }

  @Test("Aggregates ignore nil.")
  func null() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = [column("number", "count(age)"), column("mean", "average(age)")]
    }
    #expect(found == [["number": 3, "mean": 112.0 / 3]])
  }

  @Test("An aggregate of a to-many relationship covers all its objects, of all rows.")
  func pooled() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = [
        "department", column("projects", "count(projects)"), column("most", "max(projects.priority)"),
      ]
      $0.propertiesToGroupBy = ["department"]
    }
    let sales: NSDictionary = ["department": staff.sales.id, "projects": 0]
    #expect(
      found == [["department": staff.research.id, "projects": 3, "most": 2], sales, ["projects": 1, "most": 2]])
  }

  @Test("Functions inside an aggregate are computed for each row.")
  func nested() throws {
    let most = column("most", "max(count(projects))")
    #expect(try staff.dictionaries { $0.propertiesToFetch = [most] } == [["most": 2]])
  }

  @Test("Functions of lists, collection operators and the inside of subqueries are computed for each row.")
  func ofEachRow() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = [
        column("most", "max({age, salary})"), column("first", "projects.@min.priority"),
        column("modest", "SUBQUERY(reports, $r, max($r.projects.priority) = 1).@count"),
      ]
    }
    #expect(found.map { $0["most"] as? Double } == [36, 25, 20, 51])
    #expect(found.map { $0["first"] as? Int } == [1, 1, nil, 2])
    #expect(found.map { $0["modest"] as? Int } == [1, 0, 0, 0])
  }

  @Test("Rows are grouped by names, properties and expressions, and nil is a value.")
  func grouping() throws {
    #expect(try totals(having: nil) == [research, sales, none])
    let isLong = column("isLong", "TERNARY(name.length > 3, 1, 0)")
    let found = try staff.dictionaries {
      $0.propertiesToFetch = [isLong, "salary", column("number", "count(SELF)")]
      $0.propertiesToGroupBy = [isLong, staff.employee.attributesByName["salary"]!]
    }
    let expected: [NSDictionary] = [
      ["isLong": 0, "salary": 30, "number": 1], ["isLong": 0, "salary": 20, "number": 1],
      ["isLong": 1, "salary": 20, "number": 1], ["isLong": 0, "number": 1],
    ]
    #expect(found == expected)
  }

  @Test("Groups without aggregates are the existing combinations of values.")
  func combinations() throws {
    let found = try staff.dictionaries { ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["salary"], ["salary"]) }
    #expect(found == [["salary": 30], ["salary": 20], [:]])
  }

  @Test("Without rows there are no groups.")
  func noRows() throws {
    let found = try staff.dictionaries {
      ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([total], ["name"])
      $0.predicate = NSPredicate(value: false)
    }
    #expect(found == [])
  }

  @Test("Groups are sorted by what they are grouped by, and limited.")
  func order() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = ["department.name", total]
      $0.propertiesToGroupBy = ["department.name"]
      $0.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: false)]
      $0.fetchLimit = 2
    }
    #expect(found == [sales, research])
  }

  @Test("Only fetches of dictionaries can be grouped.")
  func resultType() {
    for type in [.managedObjectResultType, .managedObjectIDResultType, .countResultType] as [NSFetchRequestResultType] {
      expect(.groupingWithoutDictionaries) { ($0.resultType, $0.propertiesToGroupBy) = (type, ["name"]) }
    }
  }

  @Test("A grouped fetch refuses columns and sort keys that are neither aggregates nor grouped by.")
  func notGrouped() {
    expect(.notGrouped, "name") { $0.propertiesToFetch = ["name", total] }
    expect(.notGrouped, "age") { ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["name", "age"], ["name"]) }
    expect(.notGrouped, "age") {
      ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([column("x", "sum(salary) / age")], ["name"])
    }
    for format in ["SUBQUERY({1}, $x, max({age, $x}) > 1)[SIZE]", "SUBQUERY({1}, $x, count(age) = $x)[SIZE]"] {
      expect(.notGrouped, "age") { ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([column("x", format)], ["name"]) }
    }
    let block = column("x", "1")
    block.expression = NSExpression(block: { _, _, _ in 1 }, arguments: [])
    expect(.notGrouped, "SELF") { ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([block], ["name"]) }
    expect(.notGrouped, "SELF") { ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([column("x", "SELF")], ["name"]) }
    expect(.notGrouped, "age") {
      ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["name"], ["name"])
      $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    }
    let error = #expect(throws: FetchRequestError.self) { try staff.dictionaries { $0.propertiesToGroupBy = ["name"] } }
    #expect(error?.reason == .notGrouped)
  }

  @Test("Grouping by several values or by aggregates is refused.")
  func unfitKeys() {
    expect(.toMany, "projects") { ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["name"], ["name", "projects"]) }
    expect(.noProperty, "sum(salary)") { ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([total], [total]) }
  }

  @Test("A predicate for groups without groups is refused.")
  func havingWithoutGroups() {
    expect(.havingWithoutGrouping) { $0.havingPredicate = NSPredicate(format: "$total > 1") }
    expect(.havingWithoutGrouping) {
      ($0.propertiesToFetch, $0.propertiesToGroupBy, $0.havingPredicate) = (
        [total], [], NSPredicate(format: "$total > 1")
      )
    }
  }

  @Test("A predicate for groups refers to columns by variables of their names.")
  func having() throws {
    let variable = NSComparisonPredicate(
      leftExpression: NSExpression(forVariable: "total"), rightExpression: NSExpression(forConstantValue: 20),
      modifier: .direct, type: .greaterThan)
    #expect(try totals(having: variable) == [research])
    #expect(try totals(having: NSPredicate(format: "$total <= 20")) == [sales, none])
  }

  @Test("A predicate for groups may contain aggregates, which Apple's SQLite store refuses, and grouped keys.")
  func havingAggregates() throws {
    #expect(try totals(having: NSPredicate(format: "count(SELF) = 1")) == [sales, none])
    #expect(try totals(having: NSPredicate(format: "max(age) > 30 AND $total > 0")) == [research])
    #expect(try totals(having: NSPredicate(format: "department.name BEGINSWITH 'S'")) == [sales])
    #expect(try totals(having: NSPredicate(value: false)) == [])
  }

  @Test("A predicate for groups refuses key paths that name columns or are not grouped by.")
  func havingKeyPaths() throws {
    func expectHaving(_ predicate: NSPredicate, _ reason: FetchRequestError.Reason, _ keyPath: String) {
      expect(reason, keyPath) {
        ($0.propertiesToFetch, $0.propertiesToGroupBy, $0.havingPredicate) = ([total, "name"], ["name"], predicate)
      }
    }
    expectHaving(NSPredicate(format: "total > 1"), .unknownKeyPath, "total")
    expectHaving(NSPredicate(format: "age > 1"), .notGrouped, "age")
    expectHaving(NSPredicate { _, _ in true }, .notGrouped, "SELF")
    expectHaving(NSPredicate(format: "$nope > 1"), .notEvaluable(.unboundVariable("nope")), "$nope > 1")
  }
}
