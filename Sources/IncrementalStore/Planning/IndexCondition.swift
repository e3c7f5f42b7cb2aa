package import CoreData

/// What predicates require of the value of one indexed property, as values of an index.
struct IndexCondition {
  /// The values of which the property must have one; nil if the predicates do not list them.
  private(set) var values: [IndexedValue]?
  private(set) var lower: Bound?
  private(set) var upper: Bound?
  private(set) var prefix: String?

  /// Where a range of values begins or ends.
  struct Bound {
    let value: IndexedValue
    /// Whether the value itself is outside.
    var excludesValue = false
  }

  /// What a condition knows about the values that satisfy a comparison.
  enum Knowledge {
    /// The condition's `values` are these, and no others.
    case values
    /// The condition's range consists of these, and no others.
    case range
    /// All of these may be among others.
    case some
  }

  var isRange: Bool { lower != nil || upper != nil || prefix != nil }

  /// Takes up what a comparison with constants requires of a property; nothing if the comparison is about anything else.
  @discardableResult
  mutating func take(
    _ comparison: NSComparisonPredicate, of field: EntityMap.StoredField, _ access: RowAccess
  ) -> Knowledge {
    guard comparison.options.isEmpty, comparison.mentions(field.name) else { return .some }
    if let membership = Membership(comparison) {
      guard values == nil, case .value(field.name) = membership.subject else { return .some }
      let constants = membership.constants
      let fit = constants.compactMap { IndexedValue(equalTo: $0, of: field, access) }
      guard fit.count == constants.count else {
        if constants.count == 1 { takeEquality(to: constants[0], of: field) }
        return .some
      }
      values = fit
      return .values
    }
    guard case .attribute(let attribute) = field.kind, let comparison = comparison.withKeyPathFirst(field.name)
    else { return .some }
    return takeRange(comparison, of: attribute) ? .range : .some
  }

  /// Takes up what equality to a double requires of a decimal number: several of these may equal the double.
  private mutating func takeEquality(to constant: Any?, of field: EntityMap.StoredField) {
    guard case .attribute(let attribute) = field.kind, attribute.attributeType == .decimalAttributeType else { return }
    lower = lower ?? IndexedValue(decimalBelow: constant).map { Bound(value: $0) }
    upper = upper ?? IndexedValue(decimalAbove: constant).map { Bound(value: $0) }
  }

  /// Returns whether the values that satisfy a comparison are those in the range, with the bounds that the comparison
  /// has set.
  private mutating func takeRange(_ comparison: NSComparisonPredicate, of attribute: NSAttributeDescription) -> Bool {
    guard attribute.attributeType != .stringAttributeType || RowCollector.ordersTextsByScalars else { return false }
    let type = comparison.predicateOperatorType
    let right = comparison.rightExpression
    switch type {
    case .greaterThan, .greaterThanOrEqualTo:
      return takeLower(right.constant, of: attribute, isExcluded: type == .greaterThan)
    case .lessThan, .lessThanOrEqualTo:
      return takeUpper(right.constant, of: attribute, isExcluded: type == .lessThan)
    case .between:
      guard let several = right.several, several.count == 2 else { return false }
      let isLowerTaken = takeLower(several[0], of: attribute)
      return takeUpper(several[1], of: attribute) && isLowerTaken
    case .beginsWith:
      guard attribute.attributeType == .stringAttributeType, let text = right.constant as? String else { return false }
      prefix = prefix ?? UniqueKey.normalized(text)
      return false
    default: return false
    }
  }

  /// Returns whether the range now begins where the constant is.
  private mutating func takeLower(
    _ constant: Any?, of attribute: NSAttributeDescription, isExcluded: Bool = false
  ) -> Bool {
    guard lower == nil, let value = IndexedValue(lowerBound: constant, of: attribute) else { return false }
    return Self.set(&lower, to: value, at: constant, of: attribute, isExcluded)
  }

  /// Returns whether the range now ends where the constant is.
  private mutating func takeUpper(
    _ constant: Any?, of attribute: NSAttributeDescription, isExcluded: Bool = false
  ) -> Bool {
    guard upper == nil, let value = IndexedValue(upperBound: constant, of: attribute) else { return false }
    return Self.set(&upper, to: value, at: constant, of: attribute, isExcluded)
  }

  private static func set(
    _ bound: inout Bound?, to value: IndexedValue, at constant: Any?, of attribute: NSAttributeDescription,
    _ isExcluded: Bool
  ) -> Bool {
    let isExact = IndexedValue.isPlace(of: constant, amongValuesOf: attribute)
    bound = Bound(value: value, excludesValue: isExact && isExcluded)
    return isExact
  }
}

extension IndexedValue {
  /// The only stored value that equals a constant; nil if there may be several.
  init?(equalTo constant: Any?, of field: EntityMap.StoredField, _ access: RowAccess) {
    if constant == nil || constant is NSNull {
      self = .null
      return
    }
    switch field.kind {
    case .toOne:
      guard let object = access.reference(ofConstant: constant) else { return nil }
      self = .object(object)
    case .attribute(let attribute): self.init(equalTo: constant, of: attribute)
    }
  }

  /// The only stored value of an attribute that equals a constant other than nil; nil if there may be several.
  init?(equalTo constant: Any?, of attribute: NSAttributeDescription) {
    if attribute.attributeType == .decimalAttributeType {
      self.init(decimal: constant)
    } else {
      guard let value = ManagedValue(equalTo: constant, of: attribute) else { return nil }
      self.init(value)
    }
  }

  /// Whether a constant is one of the values that an attribute may have, and an index keeps these whole and in their
  /// order, so that the place of the constant divides the smaller values from the greater ones.
  fileprivate static func isPlace(of constant: Any?, amongValuesOf attribute: NSAttributeDescription) -> Bool {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType,
      .doubleAttributeType, .floatAttributeType, .decimalAttributeType, .dateAttributeType:
      IndexedValue(equalTo: constant, of: attribute) != nil
    default: false
    }
  }

  /// A value before which no stored value is at least a constant; nil if there is none.
  init?(lowerBound constant: Any?, of attribute: NSAttributeDescription) {
    if attribute.attributeType == .decimalAttributeType {
      self.init(decimalBelow: constant)
    } else {
      self.init(bound: constant, of: attribute)
    }
  }

  /// A value after which no stored value is at most a constant; nil if there is none.
  init?(upperBound constant: Any?, of attribute: NSAttributeDescription) {
    if attribute.attributeType == .decimalAttributeType {
      self.init(decimalAbove: constant)
    } else {
      self.init(bound: constant, of: attribute)
    }
  }

  /// A value before which, or after which, no stored value satisfies a comparison with a constant; nil if there is none.
  private init?(bound constant: Any?, of attribute: NSAttributeDescription) {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      guard let number = constant as? NSNumber, !(constant is NSDecimalNumber) else { return nil }
      if let whole = ManagedValue(equalTo: number, of: attribute), case .integer(let whole) = whole {
        self = .integer(whole)
      } else {
        let floor = number.doubleValue.rounded(.down)
        guard floor > -0x1p63, floor < 0x1p63 else { return nil }
        self = .integer(Int64(floor))
      }
    case .floatAttributeType:
      // No single-precision number lies between a number and the nearest single-precision one.
      guard let number = constant as? NSNumber, !(constant is NSDecimalNumber), !number.floatValue.isNaN
      else { return nil }
      self = .double(Double(number.floatValue))
    case .doubleAttributeType:
      // No double lies between an integer and the nearest double.
      guard let number = constant as? NSNumber, !(constant is NSDecimalNumber), !number.doubleValue.isNaN
      else { return nil }
      self = .double(number.doubleValue)
    case .stringAttributeType, .dateAttributeType, .UUIDAttributeType:
      guard let value = ManagedValue(equalTo: constant, of: attribute) else { return nil }
      self.init(value)
    default: return nil
    }
  }

  /// The only decimal number that equals a constant; nil for a double, which several may equal.
  private init?(decimal constant: Any?) {
    let number: Decimal? =
      switch constant {
      case let number as NSDecimalNumber: number.decimalValue
      case let number as Decimal: number
      case let number as NSNumber: number.isFloating ? nil : number.whole.map { Decimal($0) }
      default: nil
      }
    guard let number, !number.isNaN else { return nil }
    self.init(decimalText: number.description)
  }

  /// A decimal number before which none is at least a constant; nil if there is none.
  fileprivate init?(decimalBelow constant: Any?) {
    self.init(decimal: constant, orNextDouble: \.nextDown)
  }

  /// A decimal number after which none is at most a constant; nil if there is none.
  fileprivate init?(decimalAbove constant: Any?) {
    self.init(decimal: constant, orNextDouble: \.nextUp)
  }

  /// - Parameter next: The neighbour of a double. The numbers that equal the double lie between its neighbours.
  private init?(decimal constant: Any?, orNextDouble next: (Double) -> Double) {
    if let value = IndexedValue(decimal: constant) {
      self = value
      return
    }
    guard let number = constant as? NSNumber, !(number is NSDecimalNumber), next(number.doubleValue).isFinite else {
      return nil
    }
    self.init(decimalText: next(number.doubleValue).description)
  }

  private init?(decimalText text: String) {
    guard let number = OrderedDecimal(text) else { return nil }
    self = .decimal(number)
  }

  /// Nil for a value that is not kept in indexes, or that equals nothing.
  init?(_ value: ManagedValue) {
    switch value {
    case .integer(let number): self = .integer(number)
    case .double(let number) where !number.isNaN: self = .double(number)
    case .string(let text): self = .text(UniqueKey.normalized(text))
    case .date(let date) where !date.timeIntervalSinceReferenceDate.isNaN:
      self = .date(date.timeIntervalSinceReferenceDate)
    case .uuid(let uuid): self = .uuid(unsafe Swift.withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) }[...])
    case .data(let data): self = .data(Array(data)[...])
    default: return nil
    }
  }
}

extension NSComparisonPredicate {
  /// Whether a key path that begins with a name is on one of the sides.
  func mentions(_ name: String) -> Bool {
    leftExpression.path?.hasPrefix(name) == true || rightExpression.path?.hasPrefix(name) == true
  }

  /// The comparison with a constant on its right; nil if it has a constant on neither side, or a quantifier.
  var withConstantLast: NSComparisonPredicate? {
    guard comparisonPredicateModifier == .direct else { return nil }
    return rightExpression.isConstant ? self : leftExpression.isConstant ? mirrored : nil
  }

  /// The comparison with its sides exchanged; nil if no operator does that.
  private var mirrored: NSComparisonPredicate? {
    predicateOperatorType.mirrored.map { type in
      NSComparisonPredicate(
        leftExpression: rightExpression, rightExpression: leftExpression, modifier: comparisonPredicateModifier,
        type: type, options: options)
    }
  }

  /// The comparison with a key path on its left, if one of its sides is the key path and the other is constant; nil
  /// otherwise.
  fileprivate func withKeyPathFirst(_ key: String) -> NSComparisonPredicate? {
    guard comparisonPredicateModifier == .direct else { return nil }
    if leftExpression.path == key { return self }
    return rightExpression.path == key && leftExpression.isConstant ? mirrored : nil
  }
}

extension NSComparisonPredicate.Operator {
  /// The operator with its sides exchanged; nil if none does that.
  package var mirrored: NSComparisonPredicate.Operator? {
    switch self {
    case .equalTo, .notEqualTo: self
    case .lessThan: .greaterThan
    case .lessThanOrEqualTo: .greaterThanOrEqualTo
    case .greaterThan: .lessThan
    case .greaterThanOrEqualTo: .lessThanOrEqualTo
    default: nil
    }
  }
}
