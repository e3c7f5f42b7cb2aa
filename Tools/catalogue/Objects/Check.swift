import CoreData

/// An expected fact about the store of objects, and the value that was found.
struct Check: Encodable {
  let fact: String
  let expected: String
  let found: String
  let holds: Bool

  init<Value: Equatable>(_ fact: String, expected: Value, found: Value) {
    self.fact = fact
    self.expected = "\(expected)"
    self.found = "\(found)"
    holds = expected == found
  }

  /// Checks that a store contains the graph that was parsed, with every dependency in both directions.
  static func all(of store: ObjectStore, _ when: String, against parsed: ParsedCatalogue) throws -> [Check] {
    try store.work { context in
      [
        Check("packages \(when)", expected: parsed.packages.count, found: try context.count("Package")),
        Check("versions \(when)", expected: parsed.versions.count, found: try context.count("Version")),
        Check("maintainers \(when)", expected: parsed.maintainers.count, found: try context.count("Maintainer")),
        Check("sections \(when)", expected: parsed.sections.count, found: try context.count("Section")),
        Check("dependencies \(when)", expected: parsed.edges, found: try context.members("dependencies", "Version")),
        Check("dependents \(when)", expected: parsed.edges, found: try context.members("dependents", "Package")),
      ]
    }
  }
}

extension NSManagedObjectContext {
  fileprivate func count(_ entity: String) throws -> Int {
    try count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
  }

  /// The number of members of a to-many relationship, summed over all objects of an entity.
  fileprivate func members(_ relationship: String, _ entity: String) throws -> Int {
    let request = NSFetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [NSExpressionDescription("members", "count(\(relationship))", .integer64AttributeType)]
    return try fetch(request).first?["members"] as? Int ?? 0
  }
}

extension NSExpressionDescription {
  /// A computed column of a fetch for dictionaries.
  convenience init(_ name: String, _ format: String, _ type: NSAttributeType) {
    self.init()
    self.name = name
    expression = NSExpression(format: format)
    expressionResultType = type
  }
}
