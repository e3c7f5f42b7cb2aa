import OpenCoreData
import Testing

/// Fetch requests that are refused because they make no sense.
@Suite struct FetchRefusalTests {
  private let staff = Staff()

  /// Expects a predicate to be refused.
  private func expect(
    _ format: String, _ reason: FetchRequestError.Reason, _ keyPath: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let request = staff.request { $0.predicate = NSPredicate(format: format) }
    expect(request, reason, keyPath, sourceLocation: sourceLocation)
  }

  private func expect(
    _ request: NSFetchRequest<NSDictionary>, _ reason: FetchRequestError.Reason, _ keyPath: String?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: FetchRequestError.self, sourceLocation: sourceLocation) { try staff.compiled(request) }
    #expect(error?.reason == reason, sourceLocation: sourceLocation)
    #expect(error?.keyPath == keyPath, sourceLocation: sourceLocation)
    #expect(error?.entityName == "Employee", sourceLocation: sourceLocation)
  }

  @Test(
    "A fetch refuses a key path that the entity does not have, wherever it occurs.",
    arguments: [
      ("nope = 1", "nope"), ("name = 'x' OR NOT 1 = nope", "nope"), ("department.nope = 1", "department.nope"),
      ("ANY projects.nope = 1", "projects.nope"), ("name.nope = 1", "name.nope"), ("age.length = 1", "age.length"),
      ("place.street = 'x'", "place.street"), ("name.@count = 1", "name.@count"), ("projects.@no = 1", "projects.@no"),
      ("projects.@sum.nope = 1", "projects.@sum.nope"), ("lowercase(nope) = 'x'", "nope"), ("1 IN {nope}", "nope"),
      ("SUBQUERY(projects, $p, $p.nope = 1).@count = 1", "$p.nope"), ("peers.@count = 0", "peers.@count"),
      ("SUBQUERY(projects, $p, nope = 1).@count = 1", "nope"), ("TERNARY(nope = 1, 1, 2) = 1", "nope"),
      ("reports[0].nope = 1", "nope"), ("self.nope = 1", "nope"),
      ("salary.pathExtension = 'x'", "salary.pathExtension"),
      ("objectID.nope = 1", "objectID.nope"), ("boss.entity.nope = 1", "boss.entity.nope"),
      ("entity.name.nope = 1", "entity.name.nope"), ("name.intValue.length = 1", "name.intValue.length"),
    ])
  func unknownKeyPath(_ format: String, _ keyPath: String) throws {
    let request = staff.request { $0.predicate = NSPredicate(format: format) }
    let error = #expect(throws: FetchRequestError.self) { try staff.compiled(request) }
    #expect(error?.reason == .unknownKeyPath)
    #expect(error?.keyPath?.hasSuffix(keyPath) == true, "\(error?.keyPath ?? "")")
  }

  @Test("A fetch refuses a key that only a subentity has.")
  func subentities() throws {
    let zoo = Zoo()
    let request = staff.request { $0.predicate = NSPredicate(format: "tricks > 1") }
    let error = #expect(throws: FetchRequestError.self) {
      try CompiledFetch(request, of: zoo.animal, reading: RowReader<[String: Int]>.keyed)
    }
    #expect(error?.reason == .unknownKeyPath && error?.entityName == "Animal")
    let ofDogs = try CompiledFetch(request, of: zoo.dog, reading: RowReader<[String: Int]>.keyed)
    #expect(ofDogs.count(among: [["tricks": 1], ["tricks": 2]]) == 1)
  }

  @Test(
    "A fetch refuses to compare several values without a quantifier.",
    arguments: [
      ("projects.title = 'Moon'", "projects.title"), ("projects = nil", "projects"),
      ("1 < projects.priority", "projects.priority"),
      ("projects.title IN {'Moon'}", "projects.title"),
      ("department.employees.name = 'x'", "department.employees.name"),
      ("reports.boss.name = 'x'", "reports.boss.name"), ("projects.title.length = 1", "projects.title.length"),
      ("name CONTAINS projects.title", "projects.title"), ("ANY projects.title = reports.name", "reports.name"),
      ("projects.@distinctUnionOfObjects.title = 'x'", "projects.@distinctUnionOfObjects.title"),
      ("SUBQUERY(reports, $r, $r.projects.title = 'x').@count = 1", "$r.projects.title"),
    ])
  func toMany(_ format: String, _ keyPath: String) { expect(format, .toMany, keyPath) }

  @Test(
    "A fetch refuses a quantifier or a subquery on a single value.",
    arguments: [
      ("ANY name = 'Ada'", "name"), ("ALL department.name = 'x'", "department.name"), ("NONE boss = nil", "boss"),
      ("SUBQUERY(boss, $b, $b.age = 1).@count = 1", "boss"),
    ])
  func toOne(_ format: String, _ keyPath: String) { expect(format, .notToMany, keyPath) }

  @Test("A fetch refuses transient properties, which a store does not know.")
  func transient() {
    expect("badge = 1", .transientProperty, "badge")
    expect("ANY reports.badge = 1", .transientProperty, "reports.badge")
    expect(
      staff.request { $0.sortDescriptors = [NSSortDescriptor(key: "badge", ascending: true)] }, .transientProperty,
      "badge")
    expect(staff.request { $0.propertiesToFetch = ["badge"] }, .transientProperty, "badge")
  }

  @Test("A fetch refuses a predicate that cannot be evaluated.")
  func notEvaluable() {
    expect("name MATCHES '('", .notEvaluable(.invalidPattern("(")), "name MATCHES \"(\"")
    expect("name = $x", .notEvaluable(.unboundVariable("x")), "name == $x")
    expect("ANYKEY = 1", .notEvaluable(.unsupported("ANYKEY")), "ANYKEY == 1")
  }

  @Test("A fetch refuses sort keys that the entity does not have, and those with several values.")
  func sortKeys() {
    for (key, reason) in [
      ("nope", .unknownKeyPath), ("boss.nope", .unknownKeyPath), ("projects.title", .toMany), ("projects", .toMany),
    ] as [(String, FetchRequestError.Reason)] {
      expect(staff.request { $0.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }, reason, key)
    }
  }

  @Test("A fetch refuses to fetch or group by properties that the entity does not have.")
  func properties() {
    let alien = NSAttributeDescription()
    alien.name = "alien"
    for (given, name) in [
      ("nope", "nope"), ("boss.nope", "boss.nope"), (alien, "alien"), (column("x", "nope + 1"), "nope"),
    ] as [(Any, String)] {
      expect(staff.request { $0.propertiesToFetch = [given] }, .unknownKeyPath, name)
      expect(
        staff.request { ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["name"], ["name", given]) }, .unknownKeyPath,
        name)
    }
    expect(staff.request { $0.propertiesToFetch = [3] }, .noProperty, "3")
    expect(staff.request { $0.propertiesToFetch = [NSExpressionDescription()] }, .noProperty, "")
    expect(staff.request { $0.propertiesToFetch = [column("", "name")] }, .noProperty, "name")
  }

  @Test("A fetch refuses a key that the rows lack though the entity has it.")
  func missingInRows() {
    let reader = RowReader<Int>(object: { $0 }) { _ in nil }
    let request = staff.request { $0.predicate = NSPredicate(format: "name = 'x'") }
    let error = #expect(throws: FetchRequestError.self) {
      try CompiledFetch(request, of: staff.employee, reading: reader)
    }
    #expect(error?.reason == .notEvaluable(.unknownKey("name")))
  }

  @Test(
    "A fetch refuses functions of objects and other fetches, which stores cannot call.",
    arguments: [
      "FUNCTION(name, \"length\")", "FETCH(name, boss, NO)",
    ])
  func calls(_ expression: String) {
    let reason = FetchRequestError.Reason.notEvaluable(.unsupported(expression))
    expect("1 = TERNARY(age = 1, \(expression), 1)", reason, expression)
  }

  @Test("The error of a refused fetch names the key path and the entity, and is one of Core Data's.")
  func error() throws {
    let request = staff.request { $0.predicate = NSPredicate(format: "boss.nope = 1") }
    let error = try #require(throws: FetchRequestError.self) { try staff.compiled(request) }
    #expect(error.description == "'boss.nope' for Employee meets no attribute or relationship")
    let cocoa = error as NSError
    #expect(cocoa.domain == NSCocoaErrorDomain && cocoa.code == 134060)
    #expect(cocoa.localizedDescription == error.description)
  }
}
