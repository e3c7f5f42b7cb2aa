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

    private(set) var keys: [Key] = []
    /// The keys that are numbers with NaN among them, which the server has in another place.
    private(set) var numbers: [String] = []

    /// Nil if the server cannot sort as the descriptors do.
    init?(_ descriptors: [NSSortDescriptor], _ scope: PredicateTranslator.Scope, _ layout: Layout) {
      guard !descriptors.isEmpty else { return nil }
      for descriptor in descriptors {
        guard descriptor.selector == NSSelectorFromString("compare:"), let key = descriptor.key,
          let column = scope.table.column(of: key)
        else { return nil }
        let isIndexed = layout.isIndexed(column, scope.table)
        let operand = Operand(column, scope, isIndexed: isIndexed)
        let isDescending = !descriptor.ascending
        switch column.kind {
        case .boolean, .integer, .uuid:
          keys.append(Key(expression: operand.expression, indexed: nil, isDescending: isDescending))
        case .double, .decimal, .date:
          keys.append(Key(expression: operand.expression, indexed: nil, isDescending: isDescending))
          numbers.append(operand.expression)
        case .text:
          let beginning = isIndexed ? Layout.Column.prefix(ofText: operand.normalized) : nil
          keys.append(Key(expression: operand.normalized, indexed: beginning, isDescending: isDescending))
        case .data, .uri, .transformed, .composite, .toOne: return nil
        }
      }
    }

    /// What is true for rows that the server has in the place in which the descriptors have them.
    var isExact: String {
      numbers.isEmpty ? "true" : numbers.map { "\($0) IS DISTINCT FROM 'NaN'" }.joined(separator: " AND ")
    }

    /// The terms of `ORDER BY` in a table.
    var terms: String {
      keys.flatMap { key in [key.indexed, key.expression].compactMap { $0.map(key.term) } }.joined(separator: ", ")
    }

    /// The terms of `ORDER BY` for keys that have names.
    func terms(_ names: [String]) -> String { zip(keys, names).map { $0.term($1) }.joined(separator: ", ") }
  }
#endif
