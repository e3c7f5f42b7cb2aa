#if PostgreSQL
  import CoreData

  /// The order of a fetch as the server makes it.
  struct SearchOrder {
    struct Key {
      /// In a table.
      let expression: String
      /// What an index of the server has of it, which sorts in the same order as far as it tells; nil if that is all.
      let indexed: String?
      let isDescending: Bool

      fileprivate func term(_ expression: String) -> String {
        "\(expression) \(isDescending ? "DESC NULLS LAST" : "ASC NULLS FIRST")"
      }
    }

    private typealias Scope = PredicateTranslator.Scope

    /// The most tables of related objects that are joined.
    private static let mostJoins = 20

    private(set) var keys: [Key] = []
    /// Joins the tables of the objects to which key paths lead; empty if there are none.
    private(set) var joins = ""
    /// What is true for rows that the server has in another place than the descriptors have them.
    private var conditions: [String] = []
    /// The tables that have been joined, by the keys that lead to their objects.
    private var related: [[String]: [PredicateTranslator.Scope]] = [:]

    /// Nil if the server cannot sort as the descriptors do.
    init?(_ descriptors: [NSSortDescriptor], _ scope: PredicateTranslator.Scope, _ layout: Layout) {
      guard !descriptors.isEmpty else { return nil }
      for descriptor in descriptors {
        guard descriptor.selector == NSSelectorFromString("compare:"), let key = descriptor.key,
          add(key, isDescending: !descriptor.ascending, scope, layout)
        else { return nil }
      }
    }

    /// Adds the value of a key, or of a key path over to-one relationships. Returns false if there is no such value, or
    /// the server does not sort by it.
    private mutating func add(_ key: String, isDescending: Bool, _ scope: Scope, _ layout: Layout) -> Bool {
      if let column = scope.table.column(of: key) {
        let isIndexed = layout.isIndexed(column, scope.table)
        return add(Operand(column, scope, isIndexed: isIndexed), isDescending)
      }
      let path = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard path.count > 1, let objects = objects(at: path.dropLast(), of: scope, layout) else { return false }
      let operands = objects.compactMap { object in
        object.table.column(of: path[path.count - 1]).map { Operand($0, object, isIndexed: false) }
      }
      guard operands.count == objects.count, let operand = Operand(oneOf: operands) else { return false }
      return add(operand, isDescending)
    }

    private mutating func add(_ operand: Operand, _ isDescending: Bool) -> Bool {
      switch operand.kind {
      case .boolean, .integer, .uuid:
        keys.append(Key(expression: operand.expression, indexed: nil, isDescending: isDescending))
      case .double, .decimal, .date:
        keys.append(Key(expression: operand.expression, indexed: nil, isDescending: isDescending))
        // The server has NaN in another place.
        conditions.append("\(operand.expression) = 'NaN'")
      case .text:
        let beginning = operand.isIndexed ? Layout.Column.prefix(ofText: operand.normalized) : nil
        keys.append(Key(expression: operand.normalized, indexed: beginning, isDescending: isDescending))
      case .data, .uri, .transformed, .composite, .toOne: return false
      }
      return true
    }

    /// Joins the tables of the objects to which a key path over to-one relationships leads. At most one of these tables
    /// has a row for each row; none has one if the path ends before. Nil if the path is another one, or needs too many
    /// tables.
    private mutating func objects(at path: [String], of scope: Scope, _ layout: Layout) -> [Scope]? {
      guard let last = path.last else { return [scope] }
      if let known = related[path] { return known }
      guard let owners = objects(at: path.dropLast(), of: scope, layout) else { return nil }
      let columns = owners.map { $0.table.column(of: last) }
      guard let first = columns.first, case .toOne(let destination)? = first?.kind,
        columns.allSatisfy({ $0?.kind == first?.kind })
      else { return nil }
      let references = zip(owners, columns).map { owner, column in "\(owner.alias).\(column?.quoted ?? "")" }
      var objects: [Scope] = []
      for number in layout.families[destination] ?? [] {
        guard let table = layout.tables[number] else { continue }
        let object = Scope(
          alias: "\(scope.alias)_\(related.values.reduce(objects.count) { $0 + $1.count })", table: table)
        joins += " LEFT JOIN \(table.quoted) \(object.alias) ON \(object.reference) = \(coalesced(references))"
        conditions.append(object.isInexact)
        objects.append(object)
      }
      related[path] = objects
      return related.values.reduce(0) { $0 + $1.count } <= Self.mostJoins ? objects : nil
    }

    /// What is true for rows that the server has in another place than the descriptors have them; nil if there are
    /// none.
    var inexact: String? { conditions.isEmpty ? nil : conditions.joined(separator: " OR ") }

    /// The terms of `ORDER BY` in a table.
    var terms: String {
      keys.flatMap { key in [key.indexed, key.expression].compactMap { $0.map(key.term) } }.joined(separator: ", ")
    }

    /// The terms of `ORDER BY` for keys that have names.
    func terms(_ names: [String]) -> String { zip(keys, names).map { $0.term($1) }.joined(separator: ", ") }
  }

  extension Operand {
    /// The first of several values that is not null; nil if they are of different kinds.
    fileprivate init?(oneOf operands: [Operand]) {
      guard let first = operands.first, operands.allSatisfy({ $0.kind == first.kind }) else { return nil }
      self.init(
        kind: first.kind, expression: coalesced(operands.map(\.expression)),
        normalized: coalesced(operands.map(\.normalized)), folded: coalesced(operands.map(\.folded)), isIndexed: false)
    }
  }

  private func coalesced(_ expressions: [String]) -> String {
    expressions.count == 1 ? expressions[0] : "COALESCE(\(expressions.joined(separator: ", ")))"
  }
#endif
