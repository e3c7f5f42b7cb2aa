import OpenCoreData
import Testing

@Suite struct CollectionTests {
  private let department: [String: Any] = [
    "name": "R",
    "limit": 15,
    "employees": [
      ["name": "a", "salary": 10, "tags": ["x", "y"]],
      ["name": "b", "salary": 20, "tags": ["y"]],
      ["name": "c", "salary": 20, "tags": [] as [String]],
    ] as [[String: Any]],
  ]

  @Test("ANY, ALL and NONE test each element.")
  func quantifiers() throws {
    #expect(try holds("ANY employees.salary > 15", for: department))
    #expect(try !holds("ANY employees.salary > 25", for: department))
    #expect(try holds("ALL employees.salary >= 10", for: department))
    #expect(try !holds("ALL employees.salary > 10", for: department))
    #expect(try holds("NONE employees.salary > 25", for: department))
    #expect(try !holds("NONE employees.salary > 15", for: department))
    #expect(try holds("ANY employees.salary > limit AND SOME employees.name IN {'b', 'z'}", for: department))
    #expect(try holds("ANY employees.name LIKE[c] 'A*'", for: department))
    #expect(try holds("ALL employees.salary BETWEEN {10, 20}", for: department))
  }

  @Test("Quantifiers reach through several collections.")
  func nested() throws {
    #expect(try holds("ANY employees.tags == 'x'", for: department))
    #expect(try holds("ANY employees.tags CONTAINS 'x'", for: department))
    #expect(try !holds("ALL employees.tags CONTAINS 'y'", for: department))
    #expect(try !holds("ANY employees.tags == 'z'", for: department))
  }

  @Test("A quantifier over something other than a collection is false.")
  func scalar() throws {
    #expect(try !holds("ANY name == 'R'", for: department))
    #expect(try !holds("ALL name == 'R'", for: department))
    #expect(try holds("NONE name == 'R'", for: department))
  }

  @Test("A collection without a quantifier equals no single value.")
  func direct() throws {
    #expect(try !holds("employees.name == 'a'", for: department))
    #expect(try holds("employees.name == {'a', 'b', 'c'}", for: department))
    #expect(try holds("employees.name CONTAINS 'a'", for: department))
    #expect(try !holds("employees.name CONTAINS 'A'", for: department))
    #expect(try holds("employees.name CONTAINS[c] 'A'", for: department))
  }

  @Test("Sets are equal in any order, arrays only in the same order.")
  func equality() throws {
    #expect(try holds("a == %@", Set([2, 1]), for: ["a": NSSet(array: [1, 2])]))
    #expect(try !holds("a == %@", [2, 1], for: ["a": [1, 2]]))
    #expect(try holds("a == {1, 2.0}", for: ["a": [1, 2]]))
    #expect(try !holds("a == %@", Set([1, 2]), for: ["a": [1, 2]]))
  }

  @Test("A collection operator may stand before or after its key.")
  func operators() throws {
    for (path, expected) in [
      ("employees.@count", .integer(3)), ("employees.@sum.salary", .integer(50)),
      ("employees.salary.@sum", .integer(50)), ("employees.@max.salary", .integer(20)),
      ("employees.salary.@min", .integer(10)), ("employees.@max.name", .string("c")),
      ("employees.@avg.salary", .double(50.0 / 3)), ("employees.salary.@avg", .double(50.0 / 3)),
      ("employees.salary.@count", .integer(3)), ("employees.name.@max.length", .integer(1)),
      ("employees.@unionOfObjects.salary", .collection([.integer(10), .integer(20), .integer(20)], ordered: true)),
      ("employees.@distinctUnionOfObjects.salary", .collection([.integer(10), .integer(20)], ordered: true)),
      ("employees.@unionOfArrays.tags", .collection([.string("x"), .string("y"), .string("y")], ordered: true)),
      ("employees.@distinctUnionOfArrays.tags", .collection([.string("x"), .string("y")], ordered: true)),
      ("employees.@unionOfSets.tags", .collection([.string("y"), .string("x"), .string("y")], ordered: false)),
      ("employees.@distinctUnionOfSets.tags", .collection([.string("y"), .string("x")], ordered: false)),
      ("name.@count", .null),
    ] as [(String, PredicateValue)] {
      #expect(try value(path, for: department) == expected, "\(path)")
    }
  }

  @Test("A key path may begin with an operator on SELF.")
  func ofSelf() throws {
    #expect(try holds("@count == 3 AND SELF.@sum.self == 6 AND @max.self == 3", for: [1, 2, 3]))
  }

  @Test("Null counts as 0 in sums and averages, and is ignored by other operators.")
  func null() throws {
    let row = ["a": [1, NSNull(), 3] as [Any], "b": [] as [Int]]
    #expect(try value("a.@sum.self", for: row) == .integer(4))
    #expect(try value("a.@avg.self", for: row) == .double(4.0 / 3))
    #expect(try value("a.@min.self", for: row) == .integer(1))
    #expect(try value("b.@sum.self", for: row) == .integer(0))
    #expect(try value("b.@avg.self", for: row) == .null)
    #expect(try value("b.@max.self", for: row) == .null)
  }

  @Test("SUBQUERY finds the elements that satisfy a predicate.")
  func subquery() throws {
    #expect(try holds("SUBQUERY(employees, $e, $e.salary > 15).@count == 2", for: department))
    #expect(try holds("SUBQUERY(employees, $e, $e.salary > 15 AND $e.name != 'b').@count == 1", for: department))
    #expect(
      try value("SUBQUERY(employees, $e, $e.salary > 15).name", for: department)
        == .collection([.string("b"), .string("c")], ordered: true))
    #expect(try holds("SUBQUERY(absent, $e, $e.salary > 15).@count == 0", for: department))
  }

  @Test("Keys without the variable in a subquery are those of the outer object.")
  func subqueryOuter() throws {
    #expect(try holds("SUBQUERY(employees, $e, $e.salary > limit).@count == 2", for: department))
  }

  @Test("Subqueries nest, and an inner variable hides an outer one of the same name.")
  func nestedSubqueries() throws {
    #expect(
      try holds(
        "SUBQUERY(employees, $e, SUBQUERY($e.tags, $t, $t == 'y' AND $e.salary > 15).@count > 0).@count == 1",
        for: department))
    #expect(
      try holds(
        "SUBQUERY(employees, $e, SUBQUERY($e.tags, $e, $e == 'y').@count > 0 AND $e.salary > 5).@count == 2",
        for: department))
  }

  @Test("Mapping a set gives as many values as it has elements.")
  func mappedSet() throws {
    let row = ["items": NSSet(array: [["n": 1, "k": 1], ["n": 1, "k": 2]].map { NSDictionary(dictionary: $0) })]
    #expect(try value("items.n.@sum", for: row) == .integer(2))
    #expect(try value("items.@sum.n", for: row) == .integer(2))
  }

  @Test("IN and CONTAINS search the values of a dictionary.")
  func dictionaries() throws {
    for dictionary in [["k": "x", "l": "Y"] as Any, NSDictionary(dictionary: ["k": "x", "l": "Y"])] {
      #expect(try holds("a IN %@ AND NOT a IN %@", dictionary, ["x": 1], for: ["a": "x"]))
      #expect(try holds("a IN[c] %@", dictionary, for: ["a": "y"]))
      #expect(try holds("a IN d AND a IN[c] d", for: ["a": "x", "d": dictionary]))
      #expect(try holds("d CONTAINS 'x' AND d CONTAINS[c] 'y' AND NOT d CONTAINS 'k'", for: ["d": dictionary]))
      #expect(try holds("ANY {'p', 'x'} IN d", for: ["d": dictionary]))
      #expect(try holds("d CONTAINS a", for: ["a": "x", "d": dictionary]))
    }
  }

  @Test("IN also searches the collections in a list in braces.")
  func listed() throws {
    #expect(try holds("'b' IN {employees.name, 'z'} AND 'z' IN {employees.name, name, 'z'}", for: department))
    #expect(try holds("'R' IN {employees.name, name}", for: department))
    #expect(try !holds("'y' IN {employees.name, name}", for: department))
    #expect(try holds("'B' IN[c] {employees.name, limit}", for: department))
    #expect(try holds("employees.name IN {employees.name, name}", for: department))
    #expect(try !holds("1 IN {{1, 2}, limit}", for: department))
  }

  @Test("UNION, INTERSECT and MINUS make sets.")
  func sets() throws {
    let row = ["a": [1, 2, 2], "b": [2, 3]]
    #expect(try value("a UNION b", for: row) == PredicateValue(Set([1, 2, 3])))
    #expect(try value("a INTERSECT b", for: row) == PredicateValue(Set([2])))
    #expect(try value("a MINUS b", for: row) == PredicateValue(Set([1])))
    #expect(try holds("3 IN a UNION {3}", for: row))
    #expect(try NSExpression(parsing: "a MINUS b").expressionType == .minusSet)
  }
}
