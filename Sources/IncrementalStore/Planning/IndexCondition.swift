package import CoreData

/// What predicates require of the value of one indexed property, as values of an index.
struct IndexCondition {
  /// The values of which the property must have one; nil if the predicates do not list them.
  private(set) var values: [IndexedValue]?
  private(set) var lower: IndexedValue?
  private(set) var upper: IndexedValue?
  private(set) var prefix: String?
  /// How many predicates ask for one of `values`, and nothing else.
  private(set) var exactPredicates = 0

  var isRange: Bool { lower != nil || upper != nil || prefix != nil }

  /// Takes up what a comparison with constants requires of a property; nothing if the comparison is about anything else.
  mutating func take(_ comparison: NSComparisonPredicate, of field: EntityMap.StoredField, _ access: RowAccess) {
    guard comparison.options.isEmpty, comparison.mentions(field.name) else { return }
    if let membership = Membership(comparison) {
      guard values == nil, case .value(field.name) = membership.subject else { return }
      let constants = membership.constants
      let fit = constants.compactMap { IndexedValue(equalTo: $0, of: field, access) }
      guard fit.count == constants.count else {
        if constants.count == 1 { takeEquality(to: constants[0], of: field) }
        return
      }
      values = fit
      exactPredicates += 1
    } else if case .attribute(let attribute) = field.kind, let comparison = comparison.withKeyPathFirst(field.name) {
      takeRange(comparison, of: attribute)
    }
  }

  /// Takes up what equality to a double requires of a decimal number: several of these may equal the double.
  private mutating func takeEquality(to constant: Any?, of field: EntityMap.StoredField) {
    guard case .attribute(let attribute) = field.kind, attribute.attributeType == .decimalAttributeType else { return }
    lower = lower ?? IndexedValue(decimalBelow: constant)
    upper = upper ?? IndexedValue(decimalAbove: constant)
  }

  private mutating func takeRange(_ comparison: NSComparisonPredicate, of attribute: NSAttributeDescription) {
    guard attribute.attributeType != .stringAttributeType || RowCollector.ordersTextsByScalars else { return }
    func low(_ constant: Any?) -> IndexedValue? { IndexedValue(lowerBound: constant, of: attribute) }
    func high(_ constant: Any?) -> IndexedValue? { IndexedValue(upperBound: constant, of: attribute) }
    let right = comparison.rightExpression
    switch comparison.predicateOperatorType {
    case .greaterThan, .greaterThanOrEqualTo: lower = lower ?? low(right.constant)
    case .lessThan, .lessThanOrEqualTo: upper = upper ?? high(right.constant)
    case .between:
      guard let several = right.several, several.count == 2, let low = low(several[0]), let high = high(several[1])
      else { return }
      (lower, upper) = (lower ?? low, upper ?? high)
    case .beginsWith:
      guard attribute.attributeType == .stringAttributeType, let text = right.constant as? String else { return }
      prefix = prefix ?? UniqueKey.normalized(text)
    default: break
    }
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
    case .stringAttributeType, .doubleAttributeType, .dateAttributeType, .UUIDAttributeType:
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
      case let number as NSNumber: number.whole.map { Decimal($0) }
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
