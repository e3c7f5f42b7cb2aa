import CoreData

extension Schema.Index.Condition {
  /// The condition that a predicate is; nil for anything but a comparison of one property with a constant that has no
  /// options.
  ///
  /// - Parameter find: Returns the number and the description of a property that rows have as a field.
  init?(
    _ predicate: NSPredicate, _ find: (_ name: String) -> (number: UInt32, property: NSPropertyDescription)?
  ) {
    guard let comparison = (predicate as? NSComparisonPredicate)?.withConstantLast, comparison.options.isEmpty,
      let type = Comparison(comparison.predicateOperatorType),
      let (number, property) = comparison.leftExpression.path.flatMap(find),
      let value = IndexedValue(comparedWith: comparison.rightExpression.constantValue, property)
    else { return nil }
    if type != .equal, type != .notEqual {
      switch value {
      case .text: guard RowCollector.ordersTextsByScalars else { return nil }
      // No predicate is true of data that come before others.
      case .data: return nil
      default: break
      }
    }
    var output = ByteOutput()
    guard output.indexed(value) else { return nil }
    self.init(property: number, comparison: type, constant: output.bytes)
  }
}

extension Schema.Index.Condition.Comparison {
  fileprivate init?(_ type: NSComparisonPredicate.Operator) {
    switch type {
    case .equalTo: self = .equal
    case .notEqualTo: self = .notEqual
    case .lessThan: self = .less
    case .lessThanOrEqualTo: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqualTo: self = .greaterOrEqual
    default: return nil
    }
  }
}

extension IndexedValue {
  /// The form of a constant in an index; nil if the index has none that compares as the constant does.
  fileprivate init?(comparedWith constant: Any?, _ property: NSPropertyDescription) {
    if constant == nil || constant is NSNull {
      self = .null
    } else if let attribute = property as? NSAttributeDescription {
      self.init(equalTo: constant, of: attribute)
    } else {
      return nil
    }
  }
}
