import OpenCoreData

/// Makes predicates from everything in the format language except what gives a different result each time, and rows for
/// them.
struct RandomPredicates {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static let scalarKeys = ["a", "b", "c", "d", "first key"]
  private static let deeperKeys = [
    "one.a", "in", "list.@count", "items.@max.a", "a.length", "b.doubleValue", "c.description", "d.intValue",
    "one.@count",
    "items.@sum.a.boolValue",
  ]
  private static let texts = ["", "a", "ab", "A", "ä", "abc", "b", "x*", "10"]

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[chance(elements.count)] }

  private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  // MARK: Rows

  mutating func row() -> [String: Any] {
    var row: [String: Any] = [:]
    for key in Self.scalarKeys where chance(5) > 0 { row[key] = scalar() }
    if chance(4) > 0 { row["list"] = (0..<chance(4)).map { _ in scalar() } }
    if chance(4) > 0 { row["items"] = (0..<chance(4)).map { _ in ["a": scalar(), "b": scalar()] } }
    if chance(2) > 0 { row["one"] = ["a": scalar(), "list": [scalar()]] as [String: Any] }
    return row
  }

  private mutating func scalar() -> Any {
    switch chance(8) {
    case 0: NSNull()
    case 1: Double(chance(5)) / 2
    case 2: Decimal(chance(5)) / 2
    case 3: chance(2) == 0
    case 4: pick(Self.texts)
    case 5: Date(timeIntervalSinceReferenceDate: Double(chance(3)))
    case 6: pick([Double.nan, -0.0, 1e300])
    default: chance(5)
    }
  }

  // MARK: Predicates

  mutating func predicate(depth: Int, variables: [String] = []) -> NSPredicate {
    switch depth > 0 ? chance(8) : 7 {
    case 0: return NSPredicate(value: chance(2) == 0)
    case 1:
      return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(depth: depth - 1, variables: variables))
    case 2, 3:
      let parts = (0..<2 + chance(3)).map { _ in predicate(depth: depth - 1, variables: variables) }
      return NSCompoundPredicate(type: chance(2) == 0 ? .and : .or, subpredicates: parts)
    default: return comparison(depth: depth, variables)
    }
  }

  private mutating func comparison(depth: Int, _ variables: [String]) -> NSPredicate {
    let type = pick(
      [
        .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .like, .beginsWith,
        .endsWith, .in, .contains, .between,
      ] as [NSComparisonPredicate.Operator])
    let options = pick(
      [[], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]]
        as [NSComparisonPredicate.Options])
    let wantsCollection = type == .in || type == .between
    let modifier = pick([.direct, .direct, .any, .all] as [NSComparisonPredicate.Modifier])
    return NSComparisonPredicate(
      leftExpression: modifier == .direct && type != .contains
        ? scalarExpression(depth: depth, variables) : collection(depth: depth, variables),
      rightExpression: wantsCollection && chance(8) > 0
        ? collection(depth: depth, variables) : scalarExpression(depth: depth, variables),
      modifier: modifier, type: type, options: options)
  }

  // MARK: Expressions

  private mutating func scalarExpression(depth: Int, _ variables: [String]) -> NSExpression {
    func inner(_ random: inout Self) -> NSExpression { random.scalarExpression(depth: depth - 1, variables) }
    switch depth > 0 ? chance(12) : chance(5) {
    case 0, 1: return NSExpression(forKeyPath: pick(Self.scalarKeys + Self.deeperKeys))
    case 2: return NSExpression(forConstantValue: scalarConstant())
    case 3 where !variables.isEmpty:
      let variable = NSExpression(forVariable: pick(variables))
      return chance(3) == 0 ? variable : path(pick(["a", "b", "self"]), of: variable)
    case 5, 6:
      let function = pick([
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "bitwiseAnd:with:",
      ])
      return NSExpression(forFunction: function, arguments: [inner(&self), inner(&self)])
    case 7:
      let function = pick(["lowercase:", "uppercase:", "length:", "abs:", "floor:", "canonical:", "onesComplement:"])
      return NSExpression(forFunction: function, arguments: [inner(&self)])
    case 8:
      return NSExpression(
        forConditional: predicate(depth: depth - 1, variables: variables), trueExpression: inner(&self),
        falseExpression: inner(&self))
    case 9:
      return path(pick(["@count", "@sum.self", "@min.self", "@avg.self"]), of: collection(depth: depth - 1, variables))
    case 10:
      let function = pick(["sum:", "count:", "min:", "max:", "average:", "median:"])
      return NSExpression(forFunction: function, arguments: [collection(depth: depth - 1, variables)])
    case 11:
      return NSExpression(
        forFunction: "objectFrom:withIndex:",
        arguments: [collection(depth: depth - 1, variables), NSExpression(forConstantValue: chance(3))])
    default: return NSExpression(forKeyPath: pick(Self.scalarKeys))
    }
  }

  private mutating func scalarConstant() -> Any? {
    let value = scalar()
    // A NaN does not equal itself, nor would a tree that contains one.
    if let number = value as? Double, number.isNaN { return 0.5 }
    return value is NSNull ? nil : value
  }

  private mutating func collection(depth: Int, _ variables: [String]) -> NSExpression {
    switch depth > 0 ? chance(7) : chance(3) {
    case 0: return NSExpression(forKeyPath: pick(["list", "items.a", "one.list", "one"]))
    case 3:
      return pick([NSExpression.init(forUnionSet:with:), NSExpression.init(forMinusSet:with:)])(
        collection(depth: depth - 1, variables), collection(depth: depth - 1, variables))
    case 4, 5:
      let name = pick(["x", "y"])
      let subquery = NSExpression(
        forSubquery: NSExpression(forKeyPath: pick(["items", "list"])), usingIteratorVariable: name,
        predicate: predicate(depth: depth - 1, variables: variables + [name]))
      return chance(2) == 0 ? subquery : path("a", of: subquery)
    default:
      let elements = (0..<chance(4)).map { _ in
        chance(4) == 0
          ? NSExpression(forKeyPath: pick(["list", "one"])) : scalarExpression(depth: depth - 1, variables)
      }
      return NSExpression(forAggregate: elements)
    }
  }

  private func path(_ path: String, of expression: NSExpression) -> NSExpression {
    NSExpression(
      forFunction: expression, selectorName: "valueForKeyPath:", arguments: [NSExpression(forKeyPath: path)])
  }
}
