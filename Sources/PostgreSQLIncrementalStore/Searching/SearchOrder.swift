#if PostgreSQL
  import CoreData

  /// The order of a fetch as the server makes it.
  struct SearchOrder {
    /// The expressions to sort by in a table, and whether each sorts in descending order.
    private(set) var keys: [(expression: String, isDescending: Bool)] = []
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
        case .boolean, .integer, .uuid: keys.append((operand.expression, isDescending))
        case .double, .decimal, .date:
          keys.append((operand.expression, isDescending))
          numbers.append(operand.expression)
        case .text:
          // An index of the server has the beginnings.
          if isIndexed { keys.append((Layout.Column.prefix(ofText: operand.normalized), isDescending)) }
          keys.append((operand.normalized, isDescending))
        case .data, .uri, .transformed, .composite, .toOne: return nil
        }
      }
    }

    /// What is true for rows that the server has in the place in which the descriptors have them.
    var isExact: String {
      numbers.isEmpty ? "true" : numbers.map { "\($0) IS DISTINCT FROM 'NaN'" }.joined(separator: " AND ")
    }

    /// The terms of `ORDER BY`.
    ///
    /// - Parameter names: The keys' names, unless they are in the order as the expressions that they are.
    func terms(_ names: [String]? = nil) -> String {
      keys.enumerated().map { place, key in
        "\(names?[place] ?? key.expression) \(key.isDescending ? "DESC NULLS LAST" : "ASC NULLS FIRST")"
      }.joined(separator: ", ")
    }
  }
#endif
