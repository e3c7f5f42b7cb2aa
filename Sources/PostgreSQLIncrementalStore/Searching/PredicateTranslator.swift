#if PostgreSQL
  import CoreData
  import IncrementalStore
  import RowFormat

  /// Translates predicates into conditions of SQL.
  ///
  /// The evaluator of predicates is the specification. A part that is not known to be the same in SQL is left out, if
  /// that makes the condition true for more rows and not for fewer; the evaluator tests the rows that are found.
  struct PredicateTranslator {
    /// The most comparisons that a statement has.
    private static let mostComparisons = 500
    /// The deepest nesting of compound predicates and key paths.
    private static let deepest = 40
    /// The most tables of related objects that a statement names.
    private static let mostAliases = 100

    let known: KnownLayout
    /// The object of the store that a constant is or identifies.
    let reference: (Any?) -> ObjectReference?
    var parameters = SearchParameters()
    private var aliases = 0
    private var comparisons = 0
    private var depth = 0

    init(_ known: KnownLayout, _ reference: @escaping (Any?) -> ObjectReference?) {
      (self.known, self.reference) = (known, reference)
    }

    /// The rows about which a predicate is.
    struct Scope {
      let alias: String
      let table: Layout.Table

      var reference: String { "\(alias).\(Layout.RowColumn.reference)" }
      var isInexact: String { "\(alias).\(Layout.RowColumn.isInexact)" }
    }

    /// The condition for a predicate about the rows of a table; nil if none narrows them. The rows with a value that the
    /// server cannot have are to be tested besides.
    mutating func condition(_ predicate: NSPredicate, _ scope: Scope) -> SearchCondition? {
      depth += 1
      defer { depth -= 1 }
      guard depth <= Self.deepest else { return nil }
      switch predicate {
      case let comparison as NSComparisonPredicate:
        comparisons += 1
        guard comparisons <= Self.mostComparisons else { return nil }
        return condition(comparison, scope)
      case let compound as NSCompoundPredicate:
        let parts = compound.subpredicates.map { condition($0, scope) }
        return switch compound.compoundPredicateType {
        case .and: .all(parts)
        case .or: .any(parts)
        case .not: SearchCondition.all(parts)?.negated
        }
      case NSPredicate(value: true): return .always
      case NSPredicate(value: false): return .never
      default: return nil
      }
    }

    private mutating func condition(_ comparison: NSComparisonPredicate, _ scope: Scope) -> SearchCondition? {
      if let members = members(comparison, scope) { return members }
      if let identity = identity(comparison, scope) { return identity }
      let (left, right) = (comparison.leftExpression, comparison.rightExpression)
      let (type, options) = (comparison.predicateOperatorType, comparison.options)
      guard options.isSubset(of: [.caseInsensitive, .diacriticInsensitive, .normalized]) else { return nil }
      switch comparison.comparisonPredicateModifier {
      case .direct:
        if let keys = left.keys, let constant = right.searchedConstant {
          if type == .contains, collections(keys, scope) == 1 {
            return anyElement(keys, scope, ValueTest(type: .equalTo, options: options, constant: constant))
          }
          guard !isToMany(keys, scope) else { return nil }
          let test = ValueTest(type: type, options: options, constant: constant)
          return follow(keys[...], scope, isFound: false, test) { $0.condition($1, test) }
        }
        if let keys = right.keys, let constant = left.searchedConstant {
          if type == .in, collections(keys, scope) == 1 {
            return anyElement(keys, scope, ValueTest(type: .equalTo, options: options, constant: constant))
          }
          guard let mirrored = type.mirrored, !isToMany(keys, scope) else { return nil }
          let test = ValueTest(type: mirrored, options: options, constant: constant)
          return follow(keys[...], scope, isFound: false, test) { $0.condition($1, test) }
        }
        return columns(comparison, scope)
      case .any, .all:
        // The server takes long over several relationships, and an object without one counts as an element that is nil.
        guard let keys = left.keys, let constant = right.searchedConstant, collections(keys, scope) == 1,
          type != .contains
        else { return nil }
        let test = ValueTest(type: type, options: options, constant: constant)
        if comparison.comparisonPredicateModifier == .any { return anyElement(keys, scope, test) }
        return follow(keys[...], scope, isFound: true, test.negated) { $0.condition($1, test)?.negated }?.negated
      }
    }

    private mutating func anyElement(_ keys: [String], _ scope: Scope, _ test: ValueTest) -> SearchCondition? {
      follow(keys[...], scope, isFound: true, test) { $0.condition($1, test) }
    }

    /// The condition that the object of a row is one of several. Nil if the comparison is another one, or it is not
    /// known which objects these are.
    private mutating func identity(_ comparison: NSComparisonPredicate, _ scope: Scope) -> SearchCondition? {
      guard comparison.leftExpression.isIdentity || comparison.rightExpression.isIdentity, comparison.options.isEmpty,
        let membership = Membership(comparison), case .identity = membership.subject,
        let objects = membership.ids.map(objects) ?? objects(membership.constants)
      else { return nil }
      var condition = row(scope.reference, of: scope.table.entity, isOneOf: objects)
      condition.references = objects.filter { $0.entity == scope.table.entity }.map(\.reference)
      return condition
    }

    // MARK: Members

    /// The condition for a comparison of the number of members of a relationship.
    private mutating func members(_ comparison: NSComparisonPredicate, _ scope: Scope) -> SearchCondition? {
      guard comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty else { return nil }
      if let condition = MemberCondition(comparison) { return members(condition, scope) }
      // As the negation of the comparison that is true for any other number.
      if comparison.predicateOperatorType == .equalTo {
        let others = NSComparisonPredicate(
          leftExpression: comparison.leftExpression, rightExpression: comparison.rightExpression, modifier: .direct,
          type: .notEqualTo, options: [])
        if let condition = MemberCondition(others) { return members(condition, scope)?.negated }
      }
      guard let keys = comparison.leftExpression.keys, keys.count == 2, keys[1] == "@count",
        let relationship = toMany(keys[0], scope), let constant = comparison.rightExpression.searchedConstant
      else { return nil }
      aliases += 1
      let alias = "m\(aliases)"
      let count = """
        (SELECT count(*) FROM cairn_members \(alias)
        WHERE \(alias).owner = \(scope.reference) AND \(alias).relationship = \(relationship.number))
        """
      let test = ValueTest(type: comparison.predicateOperatorType, options: [], constant: constant)
      return condition(Operand(count: count), test)
    }

    private mutating func members(_ condition: MemberCondition, _ scope: Scope) -> SearchCondition? {
      guard let relationship = toMany(condition.key, scope), aliases <= Self.mostAliases else { return nil }
      return existing(relationship, scope) { $0.condition(condition.predicate, $1) }
    }

    // MARK: Key paths

    private func toMany(_ key: String, _ scope: Scope) -> Layout.Relationship? {
      known.property(key, of: scope.table.entity).flatMap { known.layout.relationships[$0.number] }
    }

    private func tables(of entity: UInt32) -> [Layout.Table] {
      (known.layout.families[entity] ?? []).compactMap { known.layout.tables[$0] }
    }

    /// Whether a key path leads over a to-many relationship.
    private func isToMany(_ keys: [String], _ scope: Scope) -> Bool { collections(keys, scope) > 0 }

    /// Over how many to-many relationships a key path leads. Over several, its value has collections as elements.
    private func collections(_ keys: [String], _ scope: Scope) -> Int {
      var tables = [scope.table]
      var count = 0
      for key in keys {
        let properties = tables.compactMap { known.property(key, of: $0.entity) }
        if properties.contains(where: { known.layout.relationships[$0.number] != nil }) { count += 1 }
        tables = properties.first?.kind.relationship.map { self.tables(of: $0.destination) } ?? []
      }
      return count
    }

    /// The condition for what is at the end of a key path.
    ///
    /// - Parameters:
    ///   - isFound: Whether the condition is about any element, if the path leads over to-many relationships.
    ///   - test: What is tested at the end of the path, for paths that end before.
    ///   - end: Makes the condition for the value at the end.
    private mutating func follow(
      _ keys: ArraySlice<String>, _ scope: Scope, isFound: Bool, _ test: ValueTest,
      _ end: (inout PredicateTranslator, Operand) -> SearchCondition?
    ) -> SearchCondition? {
      depth += 1
      defer { depth -= 1 }
      guard let key = keys.first, depth <= Self.deepest, aliases <= Self.mostAliases else { return nil }
      let rest = keys.dropFirst()
      if rest.isEmpty, ["self", "objectID"].contains(key) {
        return end(&self, Operand(.row(scope.table.entity), scope.reference))
      }
      if let relationship = toMany(key, scope) {
        guard isFound else { return nil }
        if rest.isEmpty || rest.elementsEqual(["objectID"]) {
          aliases += 1
          let alias = "m\(aliases)"
          let member = Operand(.member(entity: "\(alias).entity"), "\(alias).member")
          return end(&self, member)?.map { condition in
            """
            EXISTS (SELECT FROM cairn_members \(alias) WHERE \(alias).owner = \(scope.reference)
            AND \(alias).relationship = \(relationship.number) AND (\(condition)))
            """
          }
        }
        return existing(relationship, scope) { $0.follow(rest, $1, isFound: true, test, end) }
      }
      guard let column = scope.table.column(of: key) else { return nil }
      if rest.isEmpty || rest.elementsEqual(["objectID"]) && column.kind.isToOne {
        return end(&self, Operand(column, scope, isIndexed: known.layout.isIndexed(column, scope.table)))
      }
      guard case .toOne(let destination) = column.kind else { return nil }
      // Where the path ends before its last key, its value is nil, or no collection.
      let holdsForNull = test.holdsForNull && !isToMany(Array(rest), destination)
      var (found, anyRow): ([SearchCondition?], [String]) = ([], [])
      for table in tables(of: destination) {
        aliases += 1
        let inner = Scope(alias: "t\(aliases)", table: table)
        let condition = follow(rest, inner, isFound: isFound, test, end)?.includingInexact(inner)
        let link = "FROM \(table.quoted) \(inner.alias) WHERE \(inner.reference) = \(scope.alias).\(column.quoted)"
        found.append(condition?.map { "EXISTS (SELECT \(link) AND (\($0)))" })
        anyRow.append("EXISTS (SELECT \(link))")
      }
      if holdsForNull { found.append(.exact("NOT (\((anyRow + ["false"]).joined(separator: " OR ")))")) }
      return .any(found)
    }

    private func isToMany(_ keys: [String], _ destination: UInt32) -> Bool {
      tables(of: destination).contains { isToMany(keys, Scope(alias: "", table: $0)) }
    }

    /// The condition that there is a member of a relationship that satisfies another condition.
    private mutating func existing(
      _ relationship: Layout.Relationship, _ scope: Scope,
      _ condition: (inout PredicateTranslator, Scope) -> SearchCondition?
    ) -> SearchCondition? {
      var found: [SearchCondition?] = []
      for table in tables(of: relationship.destination) {
        aliases += 1
        let inner = Scope(alias: "t\(aliases)", table: table)
        let members = "m\(aliases)"
        found.append(
          condition(&self, inner)?.includingInexact(inner).map { condition in
            """
            EXISTS (SELECT FROM cairn_members \(members)
            JOIN \(table.quoted) \(inner.alias) ON \(inner.reference) = \(members).member
            WHERE \(members).owner = \(scope.reference) AND \(members).relationship = \(relationship.number)
            AND (\(condition)))
            """
          })
      }
      return .any(found)
    }
  }

  /// A value of a row, as an expression of SQL.
  struct Operand {
    /// How much is known of an object besides its reference.
    enum Object {
      /// The object of a row, which has this entity.
      case row(UInt32)
      /// A member of a to-many relationship, with an expression for its entity.
      case member(entity: String)
      /// The object to which a to-one relationship refers.
      case field
    }

    let kind: ColumnKind
    /// The value itself.
    let expression: String
    /// A text in normalisation form C.
    let normalized: String
    /// A text without case and diacritics.
    let folded: String
    /// Whether an index of the server has the column.
    let isIndexed: Bool
    var object = Object.field

    init(kind: ColumnKind, expression: String, normalized: String, folded: String, isIndexed: Bool) {
      (self.kind, self.expression, self.normalized) = (kind, expression, normalized)
      (self.folded, self.isIndexed) = (folded, isIndexed)
    }

    /// A number of members.
    init(count: String) {
      kind = .integer
      (expression, normalized, folded, isIndexed) = (count, count, count, false)
    }

    /// - Parameter reference: An expression for the reference of an object.
    init(_ object: Object, _ reference: String) {
      kind = .toOne(destination: 0)
      (expression, normalized, folded, isIndexed) = (reference, reference, reference, false)
      self.object = object
    }

    init(_ column: Layout.Column, _ scope: PredicateTranslator.Scope, isIndexed: Bool) {
      kind = column.kind
      let own = "\(scope.alias).\(column.quoted)"
      expression = own
      func text(_ name: String) -> String { "COALESCE(\(scope.alias).\(Connection.quoted(name)), \(own))" }
      normalized = column.kind == .text ? text(column.normalizedName) : own
      folded = column.kind == .text ? text(column.foldedName) : own
      self.isIndexed = isIndexed
    }
  }

  extension ColumnKind {
    var isToOne: Bool { if case .toOne = self { true } else { false } }
  }

  extension Layout {
    /// Whether an index of the model has the column.
    func isIndexed(_ column: Column, _ table: Table) -> Bool {
      indexes.contains { $0.entity == table.entity && $0.properties.contains(column.property) }
    }
  }

  extension SearchCondition {
    /// Rows with a value that the server cannot have may satisfy any condition.
    fileprivate func includingInexact(_ scope: PredicateTranslator.Scope) -> SearchCondition {
      SearchCondition(
        may: "(\(may)) OR \(scope.isInexact)", must: must.map { "(\($0)) AND NOT \(scope.isInexact)" })
    }
  }

  extension NSExpression {
    /// The keys of a key path, or `self` for the evaluated object; nil for anything else.
    var keys: [String]? {
      switch expressionType {
      case .evaluatedObject: ["self"]
      case .keyPath: keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      default: nil
      }
    }

    /// The value of a constant, or of a list of constants; nil for anything else.
    fileprivate var searchedConstant: PredicateValue? {
      switch expressionType {
      case .constantValue: return PredicateValue(constantValue)
      case .aggregate:
        guard let parts = collection as? [NSExpression],
          parts.allSatisfy({ $0.expressionType == .constantValue })
        else { return nil }
        return .collection(parts.map { PredicateValue($0.constantValue) }, ordered: true)
      default: return nil
      }
    }
  }
#endif
