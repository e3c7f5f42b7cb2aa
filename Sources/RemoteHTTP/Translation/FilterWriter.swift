#if HTTP
  import Foundation
  import RemoteIncrementalStore

  /// Makes parameters of a predicate.
  struct FilterWriter {
    /// The longest list of values that a parameter has.
    private static let longestList = 4000

    let filters: [String: HTTPFilter]
    let values: ValueWriter
    /// The parameters so far. They select all objects that satisfy the predicate, and perhaps others.
    private(set) var parameters: [String: String] = [:]

    init(_ filters: [String: HTTPFilter], _ values: ValueWriter) { (self.filters, self.values) = (filters, values) }

    /// Adds parameters for what they can say of a predicate. Returns whether that is all of it.
    mutating func add(_ predicate: RemotePredicate?) -> Bool {
      switch predicate {
      case nil: return true
      case .and(let parts):
        var isWhole = true
        for part in parts where !add(part) { isWhole = false }
        return isWhole
      case .isIn(let keyPath, let values): return add(filters[keyPath], oneOf: values)
      case .between(let keyPath, let lower, let upper):
        let isWhole = add(filters[keyPath], .greaterOrEqual, lower)
        return add(filters[keyPath], .lessOrEqual, upper) && isWhole
      case .comparison(let keyPath, let comparison, let value, ignoringCase: false):
        return add(filters[keyPath], comparison, value)
      default: return false
      }
    }

    private mutating func add(
      _ filter: HTTPFilter?, _ comparison: RemotePredicate.Comparison, _ value: RemoteValue
    ) -> Bool {
      guard let filter else { return false }
      switch comparison {
      case .equal where value == .null: return add(filter.noValue)
      case .notEqual where value == .null: return add(filter.anyValue)
      case .equal: return set(filter.equal, values.text(value))
      case .greater: return add(filter.greater, orWider: filter.greaterOrEqual, values.bound(value, .lower))
      case .greaterOrEqual: return add(filter.greaterOrEqual, orWider: nil, values.bound(value, .lower))
      case .less: return add(filter.less, orWider: filter.lessOrEqual, values.bound(value, .upper))
      case .lessOrEqual: return add(filter.lessOrEqual, orWider: nil, values.bound(value, .upper))
      default: return false
      }
    }

    private mutating func add(_ parameter: HTTPParameter?) -> Bool { set(parameter?.name, parameter?.value) }

    /// Adds a bound. One that was moved outwards, or that a wider comparison has, is not the whole condition.
    private mutating func add(_ name: String?, orWider wider: String?, _ bound: Bound?) -> Bool {
      guard let bound else { return false }
      return set(name ?? wider, bound.text) && name != nil && bound.isExact
    }

    private mutating func add(_ filter: HTTPFilter?, oneOf values: [RemoteValue]) -> Bool {
      let texts = Set(values.compactMap(self.values.text))
      // Without any value a parameter could mean everything.
      guard let filter, !texts.isEmpty, !values.contains(.null) else { return false }
      if texts.count == 1, filter.equal != nil { return set(filter.equal, texts.first) }
      let list = texts.sorted().joined(separator: ",")
      guard texts.allSatisfy({ !$0.isEmpty && !$0.contains(",") }), list.utf8.count <= Self.longestList else {
        return false
      }
      return set(filter.oneOf, list)
    }

    /// Sets a parameter that has no other value yet. Returns whether it has this one then.
    private mutating func set(_ name: String?, _ value: String?) -> Bool {
      guard let name, let value else { return false }
      if parameters[name] == nil { parameters[name] = value }
      return parameters[name] == value
    }
  }
#endif
