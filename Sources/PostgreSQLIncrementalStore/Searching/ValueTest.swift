#if PostgreSQL
  import CoreData
  import IncrementalStore

  /// A comparison of a value with a constant.
  struct ValueTest {
    let type: NSComparisonPredicate.Operator
    let options: NSComparisonPredicate.Options
    let constant: PredicateValue
    /// Whether it is true for nil.
    let holdsForNull: Bool

    init(type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options, constant: PredicateValue) {
      let holdsForNull =
        switch type {
        case .equalTo: constant.isNull
        case .notEqualTo: !constant.isNull
        case .in: constant.elements?.contains(where: \.isNull) ?? false
        default: false
        }
      self.init(type: type, options: options, constant: constant, holdsForNull: holdsForNull)
    }

    private init(
      type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options, constant: PredicateValue,
      holdsForNull: Bool
    ) {
      (self.type, self.options, self.constant) = (type, options, constant)
      self.holdsForNull = holdsForNull
    }

    /// The same for those values of which the comparison is not true.
    var negated: ValueTest {
      ValueTest(type: type, options: options, constant: constant, holdsForNull: !holdsForNull)
    }

    /// The comparison with another constant.
    func with(_ type: NSComparisonPredicate.Operator, _ constant: PredicateValue) -> ValueTest {
      ValueTest(type: type, options: options, constant: constant)
    }

    /// The sign of SQL of a comparison that is false for nil; nil for other comparisons.
    var sign: String? {
      switch type {
      case .equalTo: "="
      case .lessThan: "<"
      case .lessThanOrEqualTo: "<="
      case .greaterThan: ">"
      case .greaterThanOrEqualTo: ">="
      default: nil
      }
    }
  }

  extension PredicateTranslator {
    /// The condition for a comparison of a value with a constant.
    mutating func condition(_ operand: Operand, _ test: ValueTest) -> SearchCondition? {
      switch (test.type, test.constant) {
      case (.equalTo, .null): return operand.kind.hasNilAsNull ? .exact("\(operand.expression) IS NULL") : nil
      case (.notEqualTo, .null): return operand.kind.hasNilAsNull ? .exact("\(operand.expression) IS NOT NULL") : nil
      case (.notEqualTo, _): return condition(operand, test.with(.equalTo, test.constant))?.negated
      case (.between, _):
        guard let bounds = test.constant.elements, bounds.count == 2 else { return nil }
        return .all([
          condition(operand, test.with(.greaterThanOrEqualTo, bounds[0])),
          condition(operand, test.with(.lessThanOrEqualTo, bounds[1])),
        ])
      case (.in, _): return element(operand, test)
      default: break
      }
      switch operand.kind {
      case .boolean: return boolean(operand, test)
      case .integer: return integer(operand.expression, test)
      case .double: return double(operand.expression, test)
      case .decimal: return decimal(operand.expression, test)
      case .date:
        guard case .date(let date) = test.constant else { return nil }
        return real(operand.expression, date.timeIntervalSinceReferenceDate, test)
      case .uuid:
        guard case .uuid(let uuid) = test.constant, let sign = test.sign else { return nil }
        return .exact("\(operand.expression) \(sign) \(parameters.add(uuid))")
      case .data:
        guard case .data(let data) = test.constant, test.type == .equalTo else { return nil }
        return .exact("\(operand.expression) = \(parameters.add(data))")
      case .toOne:
        return test.type == .equalTo ? object(operand, [test.constant]) : nil
      case .text:
        guard case .string(let text) = test.constant else { return nil }
        return self.text(operand, test, text)
      case .uri, .transformed, .composite: return nil
      }
    }

    // MARK: Numbers

    private mutating func boolean(_ operand: Operand, _ test: ValueTest) -> SearchCondition? {
      if test.type == .equalTo, case .integer(let number) = test.constant {
        guard (0...1).contains(number) else { return .never }
        return .exact("\(operand.expression) = \(number == 1)")
      }
      return integer("(\(operand.expression))::integer", test)
    }

    private mutating func integer(_ value: String, _ test: ValueTest) -> SearchCondition? {
      guard let sign = test.sign else { return nil }
      switch test.constant {
      case .integer(let number): return .exact("\(value) \(sign) \(parameters.add(number))")
      case .double(let number):
        if let whole = Int64(exactly: number) { return .exact("\(value) \(sign) \(parameters.add(whole))") }
        guard !number.isNaN, test.type != .equalTo else { return .never }
        let isLess = [.lessThan, .lessThanOrEqualTo].contains(test.type)
        // Between two whole numbers, or beyond all that a column has.
        guard let floor = Int64(exactly: number.rounded(.down)) else {
          return (number > 0) == isLess ? .exact("\(value) IS NOT NULL") : .never
        }
        return .exact("\(value) \(isLess ? "<=" : ">") \(parameters.add(floor))")
      case .decimal(let number): return .exact(compared(value, sign, number))
      default: return nil
      }
    }

    private mutating func double(_ value: String, _ test: ValueTest) -> SearchCondition? {
      switch test.constant {
      case .double(let number): real(value, number, test)
      case .integer(let number): number.magnitude <= 1 << 53 ? real(value, Double(number), test) : nil
      case .decimal(let number): Double(number.description).flatMap { real(value, $0, test) }
      default: nil
      }
    }

    private mutating func decimal(_ value: String, _ test: ValueTest) -> SearchCondition? {
      guard let sign = test.sign else { return nil }
      let condition: String
      switch test.constant {
      case .integer(let number): condition = "\(value) \(sign) \(parameters.add(number))"
      case .decimal(let number): condition = compared(value, sign, number)
      case .double(let number): return real("(\(value))::double precision", number, test)
      default: return nil
      }
      return .exact(withoutNaN(condition, value, test.type))
    }

    private mutating func compared(_ value: String, _ sign: String, _ number: Decimal) -> String {
      guard !number.isNaN else { return "false" }
      return "\(value) \(sign) \(parameters.add(number.description))::numeric"
    }

    private mutating func real(_ value: String, _ number: Double, _ test: ValueTest) -> SearchCondition? {
      guard let sign = test.sign else { return nil }
      guard !number.isNaN else { return .never }
      return .exact(withoutNaN("\(value) \(sign) \(parameters.add(number))", value, test.type))
    }

    /// To the server, NaN is greater than all other numbers.
    private func withoutNaN(_ condition: String, _ value: String, _ type: NSComparisonPredicate.Operator) -> String {
      guard [.greaterThan, .greaterThanOrEqualTo].contains(type) else { return condition }
      return "\(condition) AND \(value) <> 'NaN'"
    }

    // MARK: Objects

    /// The condition that an object is one of several; nil if it is not known which these are.
    ///
    /// References are unique in a store, but an identifier may have been made with the reference of an object of another
    /// entity.
    private mutating func object(_ operand: Operand, _ constants: [PredicateValue]) -> SearchCondition? {
      let constants: [Any?] = constants.map { if case .object(let object) = $0 { object } else { nil } }
      guard let objects = objects(constants) else { return nil }
      let value = operand.expression
      let groups = Dictionary(grouping: objects, by: \.entity).sorted { $0.key < $1.key }.map(\.value)
      switch operand.object {
      case .row(let entity): return row(value, of: entity, isOneOf: objects)
      case .member(let entity):
        return .any(
          groups.map { .exact("\(value) \(list($0)) AND \(entity) = \(parameters.add(Int64($0[0].entity)))") })
      case .field:
        guard case .toOne(let destination) = operand.kind else { return nil }
        let family = known.layout.families[destination] ?? []
        let possible = groups.filter { family.contains($0[0].entity) }
        guard !possible.isEmpty else { return .never }
        if family.count == 1 { return .exact("\(value) \(list(possible[0]))") }
        // An object that no longer exists has left no entity.
        let certain = possible.compactMap { objects in
          known.layout.tables[objects[0].entity].map { table in
            "\(value) IN (SELECT \(Layout.RowColumn.reference) FROM \(table.quoted) "
              + "WHERE \(Layout.RowColumn.reference) \(list(objects)))"
          }
        }
        return SearchCondition(
          may: "\(value) \(list(possible.flatMap(\.self)))",
          must: certain.map { "(\($0))" }.joined(separator: " OR "))
      }
    }

    /// The condition that the row of an entity at a reference is that of one of several objects.
    mutating func row(_ reference: String, of entity: UInt32, isOneOf objects: [ObjectReference]) -> SearchCondition {
      let own = objects.filter { $0.entity == entity }
      return own.isEmpty ? .never : .exact("\(reference) \(list(own))", most: own.count)
    }

    /// The sign of SQL and the right side of a comparison that is true for the references of several objects.
    private mutating func list(_ objects: [ObjectReference]) -> String {
      objects.count == 1
        ? "= \(parameters.add(objects[0].reference))"
        : "= ANY(\(parameters.add(objects.map(\.reference), known.layout.kind)))"
    }

    /// Those constants that are objects of the store; nil if it is not known which these are.
    func objects(_ constants: [Any?]) -> [ObjectReference]? {
      var ids: [NSManagedObjectID] = []
      ids.reserveCapacity(constants.count)
      for constant in constants {
        guard let id = NSManagedObjectID.identifying(constant) else { return nil }
        ids.append(id)
      }
      return objects(ids)
    }

    func objects(_ ids: [NSManagedObjectID]) -> [ObjectReference]? {
      var objects: [ObjectReference] = []
      objects.reserveCapacity(ids.count)
      for id in ids {
        guard let found = reference(id) else {
          // An object that is not saved is none of the store's.
          guard id.isTemporaryID else { return nil }
          continue
        }
        switch found.reference {
        case .integer, .uuid: objects.append(found)
        case .string: return nil
        }
      }
      return objects
    }

    // MARK: Membership

    private mutating func element(_ operand: Operand, _ test: ValueTest) -> SearchCondition? {
      guard let elements = test.constant.elements else { return nil }
      let values = elements.filter { !$0.isNull }
      let isNull: SearchCondition? =
        operand.kind.hasNilAsNull ? .exact("\(operand.expression) IS NULL") : nil
      guard !values.isEmpty else { return test.holdsForNull ? isNull : .never }
      guard let found = element(operand, of: values, test) else { return nil }
      return test.holdsForNull ? .any([found, isNull]) : found
    }

    /// - Parameter values: None of them is nil.
    private mutating func element(_ operand: Operand, of values: [PredicateValue], _ test: ValueTest)
      -> SearchCondition?
    {
      if values.count == 1 { return condition(operand, test.with(.equalTo, values[0])) }
      let list: String
      switch operand.kind {
      case .integer:
        var numbers: [Int64] = []
        for value in values {
          switch value {
          case .integer(let number): numbers.append(number)
          // Any other number equals none of the column.
          case .double(let number): if let whole = Int64(exactly: number) { numbers.append(whole) }
          default: return nil
          }
        }
        list = parameters.add(numbers)
      case .double:
        var numbers: [Double] = []
        for value in values {
          switch value {
          case .integer(let number) where number.magnitude <= 1 << 53: numbers.append(Double(number))
          case .double(let number): if !number.isNaN { numbers.append(number) }
          default: return nil
          }
        }
        list = parameters.add(numbers)
      case .date:
        var seconds: [Double] = []
        for value in values {
          guard case .date(let date) = value else { return nil }
          if !date.timeIntervalSinceReferenceDate.isNaN { seconds.append(date.timeIntervalSinceReferenceDate) }
        }
        list = parameters.add(seconds)
      case .uuid:
        let uuids = values.compactMap { if case .uuid(let uuid) = $0 { uuid } else { nil } }
        guard uuids.count == values.count else { return nil }
        list = parameters.add(uuids)
      case .data:
        let data = values.compactMap { if case .data(let data) = $0 { data } else { nil } }
        guard data.count == values.count else { return nil }
        list = parameters.add(data)
      case .toOne:
        return object(operand, values)
      case .text:
        let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        return texts.count == values.count ? text(operand, test, in: texts) : nil
      case .boolean, .decimal: return .any(values.map { condition(operand, test.with(.equalTo, $0)) })
      case .uri, .transformed, .composite: return nil
      }
      return .exact("\(operand.expression) = ANY(\(list))")
    }

    // MARK: Two columns

    /// The condition for a comparison of two attributes or relationships of a row.
    mutating func columns(_ comparison: NSComparisonPredicate, _ scope: Scope) -> SearchCondition? {
      func operand(_ expression: NSExpression) -> Operand? {
        guard let keys = expression.keys, keys.count == 1 else { return nil }
        return scope.table.column(of: keys[0]).map { Operand($0, scope, isIndexed: false) }
      }
      guard let left = operand(comparison.leftExpression), let right = operand(comparison.rightExpression) else {
        return nil
      }
      let test = ValueTest(
        type: comparison.predicateOperatorType, options: comparison.options, constant: .null)
      if test.type == .notEqualTo {
        let equality = NSComparisonPredicate(
          leftExpression: comparison.leftExpression, rightExpression: comparison.rightExpression, modifier: .direct,
          type: .equalTo, options: comparison.options)
        return columns(equality, scope)?.negated
      }
      guard let sign = test.sign.map({ $0 == "=" ? "IS NOT DISTINCT FROM" : $0 }) else { return nil }
      switch (left.kind, right.kind) {
      case (.integer, .integer), (.boolean, .boolean), (.uuid, .uuid):
        return .exact("\(left.expression) \(sign) \(right.expression)")
      case (.double, .double), (.date, .date), (.decimal, .decimal):
        let noneIsNaN = [left, right].map { "\($0.expression) IS DISTINCT FROM 'NaN'" }.joined(separator: " AND ")
        return .exact("\(left.expression) \(sign) \(right.expression) AND \(noneIsNaN)")
      case (.toOne, .toOne), (.data, .data):
        return test.type == .equalTo ? .exact("\(left.expression) \(sign) \(right.expression)") : nil
      case (.text, .text):
        guard let form = TextForm(test.options), form.isExact else { return nil }
        return .exact("\(form.expression(left)) \(sign) \(form.expression(right))")
      default: return nil
      }
    }
  }

  extension ColumnKind {
    /// Whether a value is nil exactly if its column is null. A transformer may make nil of data.
    fileprivate var hasNilAsNull: Bool { self != .transformed }
  }
#endif
