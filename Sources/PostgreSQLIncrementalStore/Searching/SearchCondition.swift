#if PostgreSQL
  import IncrementalStore

  /// What the server is asked of a row, as two conditions of SQL between which the predicate lies. In both, null counts as
  /// false.
  struct SearchCondition {
    /// True for each row that satisfies the predicate, and perhaps for others.
    let may: String
    /// True only for rows that satisfy the predicate, and for all of them except those with a value that the server
    /// cannot have. Nil if the server can tell that of no row.
    let must: String?
    /// The most rows for which `may` is true; nil if that is not known.
    var most: Int?
    /// The references of the rows for which both are true; nil if these are not known.
    var references: [RowReference]?

    /// What the server tells as the predicate does.
    ///
    /// - Parameter most: The most rows for which it is true; nil if that is not known.
    static func exact(_ condition: String, most: Int? = nil) -> SearchCondition {
      SearchCondition(may: condition, must: condition, most: most)
    }

    /// What is true for more rows than satisfy the predicate.
    static func narrowing(_ condition: String) -> SearchCondition { SearchCondition(may: condition, must: nil) }

    static let always = exact("true")
    static let never = exact("false", most: 0)

    /// The negation; nil if the server can tell of no row that it satisfies the predicate.
    var negated: SearchCondition? {
      must.map { SearchCondition(may: "(\($0)) IS NOT TRUE", must: "(\(may)) IS NOT TRUE") }
    }

    /// What is true if all conditions are. One that is not known makes the others no less useful.
    static func all(_ parts: [SearchCondition?]) -> SearchCondition? {
      let known = parts.compactMap(\.self)
      guard !known.isEmpty || parts.isEmpty else { return nil }
      let musts = parts.compactMap { $0?.must }
      return SearchCondition(
        may: joined(known.map(\.may), " AND ", none: "true"),
        must: musts.count == parts.count ? joined(musts, " AND ", none: "true") : nil,
        most: known.compactMap(\.most).min())
    }

    /// What is true if any condition is; nil if one of them is not known.
    static func any(_ parts: [SearchCondition?]) -> SearchCondition? {
      let known = parts.compactMap(\.self)
      guard known.count == parts.count else { return nil }
      let musts = known.compactMap(\.must)
      return SearchCondition(
        may: joined(known.map(\.may), " OR ", none: "false"),
        must: musts.count == parts.count ? joined(musts, " OR ", none: "false") : nil,
        most: known.allSatisfy { $0.most != nil } ? known.reduce(0) { $0 + ($1.most ?? 0) } : nil)
    }

    /// The condition with each part in a larger one.
    func map(_ transform: (String) -> String) -> SearchCondition {
      SearchCondition(may: transform(may), must: must.map(transform))
    }

    private static func joined(_ conditions: [String], _ separator: String, none: String) -> String {
      switch conditions.count {
      case 0: none
      case 1: conditions[0]
      default: conditions.map { "(\($0))" }.joined(separator: separator)
      }
    }
  }
#endif
