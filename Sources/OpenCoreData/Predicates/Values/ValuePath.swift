import Foundation

/// A key path, taken apart: `department.employees.@sum.salary`.
struct ValuePath {
  private enum Step {
    case key(String)
    /// What follows the operator is read from each element before it is applied.
    case `operator`(CollectionOperator, each: ValuePath)
  }

  private let steps: [Step]

  init(_ path: String) {
    self.init(path.split(separator: ".")[...])
  }

  private init(_ components: ArraySlice<Substring>) {
    var steps: [Step] = []
    for (index, component) in zip(components.indices, components) {
      if let named = CollectionOperator(rawValue: String(component)) {
        steps.append(.operator(named, each: ValuePath(components[(index + 1)...])))
        break
      }
      steps.append(.key(String(component)))
    }
    self.steps = steps
  }

  /// The first key, and the path behind it; nil if the path begins with a collection operator.
  var splitAtFirstKey: (key: String, rest: ValuePath?)? {
    guard case .key(let key)? = steps.first else { return nil }
    return (key, steps.count > 1 ? ValuePath(steps: Array(steps.dropFirst())) : nil)
  }

  private init(steps: [Step]) { self.steps = steps }

  /// The value at the end of the path; null where it breaks off.
  func value(in root: PredicateValue) -> PredicateValue {
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
  /// The value for one key; of a collection, those of its elements, as many as there are.
  func value(forKey key: String) -> PredicateValue {
    switch self {
    case _ where key == "self": self
    case .collection(let elements, let ordered): .collection(elements.map { $0.value(forKey: key) }, ordered: ordered)
    case .object(let object): PredicateValue((object as? any KeyValueCoding)?.value(forKey: key))
    case .string(let text): Self.property(key, of: text)
    default: .null
    }
  }

  /// What strings answer to key-value coding on Apple's platforms.
  private static func property(_ key: String, of text: String) -> PredicateValue {
    switch key {
    case "length": .integer(Int64(text.utf16.count))
    case "lowercaseString": .string(text.lowercased())
    case "uppercaseString": .string(text.uppercased())
    default: .null
    }
  }
}
