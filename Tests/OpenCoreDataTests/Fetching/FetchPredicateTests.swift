import OpenCoreData
import Testing

/// Fetch predicates that Apple's SQLite store accepts, and some that it refuses but this implementation accepts.
@Suite struct FetchPredicateTests {
  private let staff = Staff()

  @Test("A fetch compares values by every operator.")
  func scalars() throws {
    #expect(try staff.names("salary = 20") == "Bob Cleo")
    #expect(try staff.names("salary != 20") == "Ada dán")
    #expect(try staff.names("salary < 30 AND salary <= 20") == "Bob Cleo")
    #expect(try staff.names("salary > 20 OR age >= 51") == "Ada dán")
    #expect(try staff.names("isManager == YES") == "Ada")
    #expect(try staff.names("NOT age = nil") == "Ada Bob dán")
    #expect(try staff.names("place.city = 'Paris'") == "Cleo")
  }

  @Test("A fetch compares strings by every operator, including MATCHES.")
  func strings() throws {
    #expect(try staff.names("name BEGINSWITH 'A'") == "Ada")
    #expect(try staff.names("name ENDSWITH 'o'") == "Cleo")
    #expect(try staff.names("name CONTAINS[c] 'D'") == "Ada dán")
    #expect(try staff.names("name LIKE[cd] 'DA?'") == "dán")
    #expect(try staff.names("name MATCHES '[A-C].+'") == "Ada Bob Cleo")
    #expect(try staff.names("name.length = 3") == "Ada Bob dán")
  }

  @Test("IN accepts lists, arrays and sets.")
  func membership() throws {
    #expect(try staff.names("name IN {'Ada', 'Bob'}") == "Ada Bob")
    #expect(try staff.names("name IN %@", ["Cleo"]) == "Cleo")
    #expect(try staff.names("NOT age IN %@", Set([36, 25])) == "Cleo dán")
  }

  @Test("BETWEEN accepts two bounds.")
  func between() throws {
    #expect(try staff.names("age BETWEEN {25, 36}") == "Ada Bob")
    #expect(try staff.names("age BETWEEN %@", [37, 60]) == "dán")
  }

  @Test("Key paths follow to-one relationships.")
  func toOnePaths() throws {
    #expect(try staff.names("department.name = 'Research'") == "Ada Bob")
    #expect(try staff.names("boss.boss.name = 'Ada'") == "dán")
    #expect(try staff.names("boss.department.budget > 50") == "Bob Cleo dán")
    #expect(try staff.names("boss = nil") == "Ada")
  }

  @Test("ANY tests the objects of a to-many relationship.")
  func any() throws {
    #expect(try staff.names("ANY projects.title = 'Moon'") == "Ada Bob")
    #expect(try staff.names("ANY projects.priority > 1") == "Ada dán")
    #expect(try staff.departmentNames("ANY employees.name LIKE 'C*'") == "Sales")
  }

  @Test("To-many relationships can be counted and searched.")
  func counts() throws {
    #expect(try staff.names("projects.@count = 2") == "Ada")
    #expect(try staff.names("count(projects) = 0") == "Cleo")
    #expect(try staff.names("'Mars' IN projects.title") == "Ada dán")
    #expect(try staff.names("projects.title CONTAINS 'Mars'") == "Ada dán")
    #expect(try staff.names("reports CONTAINS %@", staff.cleo) == "Ada")
  }

  @Test("Predicates may contain @sum, @avg, @min and @max.")
  func aggregates() throws {
    #expect(try staff.departmentNames("employees.@sum.salary = 50") == "Research")
    #expect(try staff.departmentNames("employees.@avg.salary = 20") == "Sales")
    #expect(try staff.departmentNames("employees.@max.age = 36 AND employees.salary.@min = 20") == "Research")
    #expect(try staff.departmentNames("sum(employees.salary) > 20") == "Research")
  }

  @Test("Predicates may contain median, mode and stddev.")
  func statistics() throws {
    #expect(try staff.departmentNames("median(employees.salary) = 25") == "Research")
    #expect(try staff.departmentNames("mode(employees.salary) = {20}") == "Sales")
    #expect(try staff.departmentNames("stddev(employees.salary) = 5") == "Research")
  }

  @Test("SUBQUERY finds related objects, also nested.")
  func subquery() throws {
    #expect(try staff.names("SUBQUERY(reports, $r, $r.salary = 20 AND $r.age = nil).@count = 1") == "Ada")
    #expect(try staff.names("SUBQUERY(projects, $p, $p.priority = 1).@count > 0 AND salary = 20") == "Bob")
    #expect(
      try staff.departmentNames(
        "SUBQUERY(employees, $e, SUBQUERY($e.projects, $p, $p.title = 'Mars').@count > 0).@count = 1") == "Research")
  }

  @Test("Objects can be compared with objects and their identifiers.")
  func objects() throws {
    #expect(try staff.names("department = %@", staff.research) == "Ada Bob")
    #expect(try staff.names("department = %@ OR boss = %@", staff.sales.id, staff.bob.id) == "Cleo dán")
    #expect(try staff.names("ANY projects = %@", staff.mars) == "Ada dán")
    #expect(try staff.names("SELF = %@", staff.bob) == "Bob")
  }

  @Test("SELF IN finds objects among objects and identifiers.")
  func selfIn() throws {
    #expect(try staff.names("SELF IN %@", [staff.bob, staff.dan]) == "Bob dán")
    #expect(try staff.names("NOT SELF IN %@", Set([staff.bob.id])) == "Ada Cleo dán")
    #expect(try staff.names("self.boss IN %@", [staff.ada.id]) == "Bob Cleo")
  }

  @Test("Predicates can compute with values.")
  func arithmetic() throws {
    #expect(try staff.names("salary * 2 - 10 = 30") == "Bob Cleo")
    #expect(try staff.names("age > boss.age + 20") == "dán")
    #expect(try staff.names("salary / age < 0.81") == "Bob")
  }

  @Test("ALL tests each object of a to-many relationship.")
  func all() throws {
    #expect(try staff.departmentNames("ALL employees.salary >= 20 AND employees.@count > 0") == "Research Sales")
    #expect(try staff.departmentNames("ALL employees.salary < 25") == "Sales Empty")
  }

  @Test("NONE holds where ANY does not, like the count of a subquery.")
  func none() throws {
    let formats = ["NONE projects.title = 'Moon'", "SUBQUERY(projects, $p, $p.title = 'Moon').@count = 0"]
    for format in formats { #expect(try staff.names(format) == "Cleo dán") }
  }

  @Test("A path may pass several to-many relationships, and a predicate may have several quantifiers.")
  func several() throws {
    #expect(try staff.departmentNames("ANY employees.projects.title = 'Mars'") == "Research")
    #expect(try staff.departmentNames("ALL employees.reports.name = 'Bob'") == "Sales Empty")
    #expect(try staff.names("ANY projects.title = 'Moon' AND ALL reports.salary = 20 AND age IN {25, 36}") == "Ada")
  }

  @Test("Objects of an ordered relationship are found by their index.")
  func places() throws {
    #expect(try staff.departmentNames("employees[1].name = 'Bob'") == "Research")
    #expect(try staff.departmentNames("employees[LAST].salary = 20 AND employees[SIZE] = 1") == "Sales")
  }

  @Test("Block predicates get the objects.")
  func blocks() throws {
    let young = NSPredicate { object, _ in (object as? StoredRow)?.value(forKey: "age") as? Int == 25 }
    #expect(try staff.names(young) == "Bob")
    let all = NSCompoundPredicate(andPredicateWithSubpredicates: [young, NSPredicate(format: "salary > 20")])
    #expect(try staff.names(all) == "")
  }

  @Test("Key paths lead into attributes by the keys of their values.")
  func valueKeys() throws {
    #expect(try staff.names("name.uppercaseString = 'BOB' OR name.pathExtension = 'x'") == "Bob")
    #expect(try staff.names("salary.intValue = 30 AND isManager.boolValue = YES") == "Ada")
    #expect(try staff.departmentNames("ANY employees.name.lowercaseString = 'cleo'") == "Sales")
    #expect(try staff.departmentNames("ANY employees.age.stringValue = '36'") == "Research")
    #expect(try staff.names("place.city.length = 5") == "Cleo")
  }

  @Test("Key paths may name an object's identifier and entity.")
  func objectKeys() throws {
    for format in ["objectID = %@", "self.objectID IN {%@}", "SELF.objectID = %@"] {
      #expect(throws: Never.self) {
        try staff.compiled(staff.request { $0.predicate = NSPredicate(format: format, 1) })
      }
    }
    for format in [
      "entity.name = 'x'", "boss.entity = nil", "ANY reports.objectID.entity.name = 'x'", "objectID.isTemporaryID = NO",
    ] {
      #expect(throws: Never.self) { try staff.compiled(staff.request { $0.predicate = NSPredicate(format: format) }) }
    }
  }

  @Test("A key path without end is checked to a bounded depth.")
  func longPath() throws {
    let path = Array(repeating: "boss", count: 20_000).joined(separator: ".")
    #expect(try staff.names("\(path) = nil") == "Ada Bob Cleo dán")
  }

  @Test("IN searches the relationships that a list in braces names.")
  func listedPaths() throws {
    #expect(try staff.names("'Mars' IN {projects.title, name}") == "Ada dán")
    #expect(try staff.names("name IN {'Bob', boss.name, department.employees.name}") == "Ada Bob Cleo")
  }

  @Test("Values of any type are read as the rows have them.")
  func anything() throws {
    #expect(try staff.names("ANY notes = 'a'") == "Ada")
    #expect(try staff.names("notes = %@ AND notes.@count = 2", ["a", "b"]) == "Ada")
  }

  @Test("A fetch without a predicate, or with one that is always true, returns all rows.")
  func everything() throws {
    #expect(try staff.compiled(staff.request()).rows(among: staff.employees) == staff.employees)
    #expect(try staff.names("TRUEPREDICATE") == "Ada Bob Cleo dán")
    #expect(try staff.names("FALSEPREDICATE") == "")
  }
}
