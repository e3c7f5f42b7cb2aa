import Foundation

/// A key path, split into its components: `department.employees.@sum.salary`.
struct ValuePath {
  private enum Step {
    case key(String)
    /// The path after the operator is read from each element before the operator is applied.
    case `operator`(CollectionOperator, each: ValuePath)
  }

  private let steps: [Step]

  /// Takes time in proportion to the length of the path.
  init(_ path: String) {
    // From the end, because an operator contains all steps after it.
    var steps: [Step] = []
    for component in path.split(separator: ".").reversed() {
      let key = String(component)
      if let named = CollectionOperator(key: key) {
        steps = [.operator(named, each: ValuePath(steps: steps.reversed()))]
      } else {
        steps.append(.key(key))
      }
    }
    self.steps = steps.reversed()
  }

  private init(steps: [Step]) { self.steps = steps }

  /// The value at the end of a path that begins at an object; null if a key on the way has no value.
  func value(of object: Any) -> PredicateValue {
    guard case .key(let key)? = steps.first, key != "self", let keyed = keyValues(of: object) else {
      return value(in: PredicateValue(object))
    }
    if let count = countOfMembers(key, keyed) { return .integer(Int64(count)) }
    return Self.follow(steps.dropFirst(), from: keyed.predicateValue(forKey: key))
  }

  /// The number of members of a relationship of a managed object, if the path asks for nothing else.
  private func countOfMembers(_ key: String, _ keyed: any KeyValueCoding) -> Int? {
    guard steps.count == 2, case .operator(.count, let each) = steps[1], each.steps.isEmpty else { return nil }
    return (keyed as? NSManagedObject)?.memberCount(forKey: key)
  }

  /// The value at the end of a path that begins at a value; null if a key on the way has no value.
  func value(in root: PredicateValue) -> PredicateValue { Self.follow(steps[...], from: root) }

  private static func follow(_ steps: ArraySlice<Step>, from root: PredicateValue) -> PredicateValue {
    var value = root
    for step in steps {
      switch step {
      case .key(let key): value = value.value(forKey: key)
      case .operator(let named, let each): value = named.apply(to: value, each: each)
      }
    }
    return value
  }
}

extension PredicateValue {
  /// The value for one key; for a collection, the value of each element, equal ones too.
  func value(forKey key: String) -> PredicateValue {
    switch self {
    case _ where key == "self": self
    case .collection(let elements, let ordered): .collection(elements.map { $0.value(forKey: key) }, ordered: ordered)
    case .object(let object): keyValues(of: object)?.predicateValue(forKey: key) ?? property(key) ?? .null
    default: property(key) ?? .null
    }
  }
}
