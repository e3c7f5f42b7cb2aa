/// The declaration of a relationship: a property and, if it is to-many, the functions that change its members.
struct RelationshipDeclaration: Declaration {
  enum Kind {
    case toOne, unordered, ordered
  }

  let name: String
  let destination: String
  let kind: Kind

  func managed(_ access: String) -> String {
    let property = "@NSManaged \(access)var \(SwiftName.quoted(name)): \(type)"
    let functions = functions.map { "@objc(\($0.selector))\n@NSManaged \(access)func \($0.signature)" }
    return ([property] + functions).joined(separator: "\n")
  }

  func portable(_ access: String) -> String {
    let methods = kind == .toOne ? ("relatedObject", "setRelatedObject") : ("value", "setValue")
    let property = """
      \(access)var \(SwiftName.quoted(name)): \(type) {
        get { \(methods.0)(forKey: "\(name)") as! \(type) }
        set { \(methods.1)(newValue, forKey: "\(name)") }
      }
      """
    let functions = functions.map { "\(access)func \($0.signature) { \($0.body) }" }
    return ([property] + functions).joined(separator: "\n")
  }

  private var type: String {
    switch kind {
    case .toOne: "\(destination)?"
    case .unordered: "NSSet?"
    case .ordered: "NSOrderedSet?"
    }
  }

  private typealias Function = (selector: String, signature: String, body: String)

  private var functions: [Function] {
    switch kind {
    case .toOne: []
    case .unordered: unordered
    case .ordered: ordered
    }
  }

  /// The name with a capital first letter, as used in the names of functions.
  private var title: String { name.prefix(1).uppercased() + name.dropFirst() }

  private var unordered: [Function] {
    let members = "mutableSetValue(forKey: \"\(name)\")"
    // Foundation on Linux makes an empty Swift set of what mutableSetValue(forKey:) returns.
    let objects = "Set(values.allObjects as! [NSManagedObject])"
    return [
      ("add\(title)Object:", "addTo\(title)(_ value: \(destination))", "\(members).add(value)"),
      ("remove\(title)Object:", "removeFrom\(title)(_ value: \(destination))", "\(members).remove(value)"),
      ("add\(title):", "addTo\(title)(_ values: NSSet)", "\(members).union(\(objects))"),
      ("remove\(title):", "removeFrom\(title)(_ values: NSSet)", "\(members).minus(\(objects))"),
    ]
  }

  private var ordered: [Function] {
    let members = "mutableOrderedSetValue(forKey: \"\(name)\")"
    // Adding at the end and removing need not read the other members.
    let unread = "mutableSetValue(forKey: \"\(name)\")"
    return [
      (
        "insertObject:in\(title)AtIndex:", "insertInto\(title)(_ value: \(destination), at idx: Int)",
        "\(members).insert(value, at: idx)"
      ),
      ("removeObjectFrom\(title)AtIndex:", "removeFrom\(title)(at idx: Int)", "\(members).removeObject(at: idx)"),
      (
        "insert\(title):atIndexes:", "insertInto\(title)(_ values: [\(destination)], at indexes: NSIndexSet)",
        "\(members).insert(values, at: indexes as IndexSet)"
      ),
      (
        "remove\(title)AtIndexes:", "removeFrom\(title)(at indexes: NSIndexSet)",
        "\(members).removeObjects(at: indexes as IndexSet)"
      ),
      (
        "replaceObjectIn\(title)AtIndex:withObject:",
        "replace\(title)(at idx: Int, with value: \(destination))",
        "\(members).replaceObject(at: idx, with: value)"
      ),
      (
        "replace\(title)AtIndexes:with\(title):",
        "replace\(title)(at indexes: NSIndexSet, with values: [\(destination)])",
        "\(members).replaceObjects(at: indexes as IndexSet, with: values)"
      ),
      ("add\(title)Object:", "addTo\(title)(_ value: \(destination))", "\(unread).add(value)"),
      ("remove\(title)Object:", "removeFrom\(title)(_ value: \(destination))", "\(unread).remove(value)"),
      ("add\(title):", "addTo\(title)(_ values: NSOrderedSet)", "\(members).union(values)"),
      ("remove\(title):", "removeFrom\(title)(_ values: NSOrderedSet)", "\(members).minus(values)"),
    ]
  }
}
