extension Schema.Index {
  /// What the row of an object must satisfy to be in a partial index: a comparison of one value with a constant.
  package struct Condition: Hashable, Sendable {
    package enum Comparison: UInt8, Sendable {
      case equal = 0
      case notEqual = 1
      case less = 2
      case lessOrEqual = 3
      case greater = 4
      case greaterOrEqual = 5

      /// The operator, as predicates have it.
      package var symbol: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
      }
    }

    /// The number of an attribute or a to-one relationship.
    package let property: UInt32
    package let comparison: Comparison
    /// The constant as the sorted key of an index has it.
    package let constant: [UInt8]

    package init(property: UInt32, comparison: Comparison, constant: [UInt8]) {
      self.property = property
      self.comparison = comparison
      self.constant = constant
    }

    /// Whether the condition is true for a value, in the form of a sorted key. Values of different types have no order.
    package func holds(for value: [UInt8]) -> Bool {
      switch comparison {
      case .equal: value == constant
      case .notEqual: value != constant
      case _ where value.first != constant.first: false
      case .less: value.lexicographicallyPrecedes(constant)
      case .lessOrEqual: !constant.lexicographicallyPrecedes(value)
      case .greater: constant.lexicographicallyPrecedes(value)
      case .greaterOrEqual: !value.lexicographicallyPrecedes(constant)
      }
    }
  }

  /// The key of a row in the index; nil if the index is partial and does not have the row.
  ///
  /// - Parameter normalized: Returns a text in normalisation form C. Not called for texts that are certain to be in it.
  package func key(of row: [UInt8], normalized: (String) -> String) throws(RowDamage) -> [UInt8]? {
    for condition in conditions {
      let value = try IndexKey.key(of: [condition.property], in: row, normalized: normalized)
      guard condition.holds(for: value) else { return nil }
    }
    return try IndexKey.key(of: properties, in: row, normalized: normalized)
  }

  /// Whether two rows have the same fields as far as the index depends on them.
  package func hasSameFields(_ one: [UInt8], _ other: [UInt8]) throws(RowDamage) -> Bool {
    for property in properties where try !FieldReader.isSame(property, in: one, other) { return false }
    for condition in conditions where try !FieldReader.isSame(condition.property, in: one, other) { return false }
    return true
  }
}
