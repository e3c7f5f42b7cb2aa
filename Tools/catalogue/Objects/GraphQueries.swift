import CoreData

/// Queries to a store of objects, whose answers are compared with the parsed files.
struct GraphQueries {
  struct Query: Encodable {
    let entity: String
    let predicate: String
    let count: Int
    let seconds: Double
  }

  struct Section: Encodable {
    let name: String
    let versions: Int
    /// In KiB.
    let installedSize: Int
  }

  private(set) var queries: [Query] = []
  /// Those with the most versions first.
  private(set) var sections: [Section] = []
  private(set) var sectionsSeconds = 0.0
  private(set) var checks: [Check] = []

  init(_ context: NSManagedObjectContext, about package: String, parsed: ParsedCatalogue) throws {
    try ask(
      context, "Version", NSPredicate(format: "ANY dependencies.name == %@", package),
      expected: parsed.versions.values.count { $0.dependencies.contains(package) })
    try ask(
      context, "Version", NSPredicate(format: "section.name == 'libs' AND maintainer.email CONTAINS '@lists.'"),
      expected: parsed.versions.values.count { version in
        version.section == "libs" && version.maintainer?.email.contains("@lists.") == true
      })
    try ask(
      context, "Package", NSPredicate(format: "SUBQUERY(dependents, $v, $v.section.name == 'libs').@count >= 10"),
      expected: parsed.dependents { $0.section == "libs" }.values.count { $0 >= 10 })
    try group(context, parsed)
  }

  private mutating func ask(
    _ context: NSManagedObjectContext, _ entity: String, _ predicate: NSPredicate, expected: Int
  ) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    let (count, seconds) = try timed { try context.fetch(request).count }
    queries.append(Query(entity: entity, predicate: predicate.formatText, count: count, seconds: seconds))
    checks.append(Check(predicate.formatText, expected: expected, found: count))
  }

  /// Groups versions by section: their number and their total installed size.
  private mutating func group(_ context: NSManagedObjectContext, _ parsed: ParsedCatalogue) throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Version")
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: "section != nil")
    request.propertiesToGroupBy = ["section.name"]
    request.propertiesToFetch = [
      "section.name",
      NSExpressionDescription("versions", "count(SELF)", .integer64AttributeType),
      NSExpressionDescription("installedSize", "sum(installedSize)", .integer64AttributeType),
    ]
    let (groups, seconds) = try timed { try context.fetch(request) }
    sectionsSeconds = seconds
    sections = groups.map { group in
      Section(
        name: group["section.name"] as? String ?? "", versions: group["versions"] as? Int ?? 0,
        installedSize: group["installedSize"] as? Int ?? 0)
    }
    sections.sort { ($1.versions, $0.name) < ($0.versions, $1.name) }

    let expected = Dictionary(grouping: parsed.versions.values.filter { $0.section != nil }, by: \.section)
    checks.append(
      Check(
        "sections with the right versions", expected: expected.count,
        found: sections.count { section in
          let versions = expected[section.name] ?? []
          return section.versions == versions.count
            && section.installedSize == versions.reduce(0) { $0 + Int($1.installedSize) }
        }))
  }
}
