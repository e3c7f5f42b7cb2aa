import Foundation

/// The operators that a key path may apply to a collection.
enum CollectionOperator: String {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case minimum = "@min"
  case maximum = "@max"
  case unionOfObjects = "@unionOfObjects"
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  case unionOfArrays = "@unionOfArrays"
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  case unionOfSets = "@unionOfSets"
  case distinctUnionOfSets = "@distinctUnionOfSets"

  /// The operator that a component of a key path names; nil for ordinary keys.
  init?(key: String) {
    guard key.hasPrefix("@") else { return nil }
    self.init(rawValue: key)
  }

  /// Applies the operator to the values that the elements of a collection have at the end of `path`. Null for anything
  /// but a collection, except that a dictionary has a count.
  func apply(to value: PredicateValue, each path: ValuePath) -> PredicateValue {
    guard case .collection(let elements, let ordered) = value else {
      return self == .count ? value.members.map { .integer(Int64($0.count)) } ?? .null : .null
    }
    func values() -> [PredicateValue] { elements.map { path.value(in: $0) } }
    func flattened() -> [PredicateValue] { elements.flatMap { path.value(in: $0).elements ?? [] } }
    return switch self {
    case .count: .integer(Int64(elements.count))
    case .sum: Sum().result(of: values())
    case .average: Average().result(of: values())
    case .minimum: Extreme.minimum.result(of: values())
    case .maximum: Extreme.maximum.result(of: values())
    case .unionOfObjects: .collection(values(), ordered: ordered)
    case .distinctUnionOfObjects: .collection(values().distinct, ordered: ordered)
    case .unionOfArrays: .collection(flattened(), ordered: ordered)
    case .distinctUnionOfArrays: .collection(flattened().distinct, ordered: ordered)
    case .unionOfSets: .collection(flattened(), ordered: false)
    case .distinctUnionOfSets: .collection(flattened().distinct, ordered: false)
    }
  }
}
