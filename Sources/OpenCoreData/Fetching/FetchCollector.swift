package import Foundation

/// Executes a fetch over rows that come one by one, and keeps no more rows than it needs for the answer.
///
/// Without sort descriptors, it keeps the rows of the window, and the last of them ends the fetch. With sort
/// descriptors and a limit, it keeps at most 1,024 rows, or twice as many as offset and limit together if that is more;
/// it then drops a row at once that comes after all rows that the answer can need. Of rows that give one dictionary, it
/// keeps one.
package struct FetchCollector<Row> {
  private let fetch: CompiledFetch<Row>
  private let matches: (Row) -> Bool
  /// Whether a row that comes later may belong before rows that came earlier.
  private var isSorted: Bool
  /// The part of the rows that are offered that the answer needs. It moves when rows are skipped.
  private var window: FetchWindow
  /// How many rows the answer can need, including those before its window.
  private var bound: Int
  private let isForCount: Bool
  private var rows: [Row] = []
  private var sorted: [CompiledSort<Row>.Keyed] = []
  /// The sort keys of the last row that the answer can still need; nil as long as that is not known.
  private var last: [PredicateValue]?
  /// Called with each row of the answer, which is not kept, unless rows are sorted; nil if the rows of the answer are
  /// kept.
  private var body: ((Row) -> Void)?
  /// Nil if each row gives an object or a dictionary.
  private var groups: RowGroups<Row>?
  private var matched = 0

  /// - Parameter isForCount: whether rows are only counted.
  package init(_ fetch: CompiledFetch<Row>, isForCount: Bool = false) {
    self.fetch = fetch
    matches = fetch.matches
    isSorted = fetch.sort != nil
    self.isForCount = isForCount
    window = fetch.window
    groups = fetch.projection?.makeGroups?()
    bound = groups == nil ? fetch.window.end : .max
  }

  /// Has rows passed on at once instead of being kept, if they come in the order of the answer. The caller of
  /// ``offer(_:isMatch:copy:)`` may reuse a row for another one afterwards.
  package mutating func passOn(_ body: @escaping (Row) -> Void) {
    if groups == nil { self.body = body }
  }

  /// Whether the rows of the answer are passed on, so that ``result`` has none.
  package var passesOn: Bool { body != nil && !isSorted }

  /// Has rows taken in the order in which they are offered, which is that of the sort descriptors.
  ///
  /// - Returns: False if groups of rows are sorted.
  package mutating func takeInOrder() -> Bool {
    guard groups == nil else { return false }
    isSorted = false
    return true
  }

  /// Evaluates a row. The caller may reuse the row for another one afterwards.
  ///
  /// - Parameters:
  ///   - isMatch: Whether the row is known to satisfy the predicate, which is then not evaluated.
  ///   - copy: Makes a copy of a row that stays valid. Called for rows that the answer may need.
  /// - Returns: Whether the fetch needs further rows.
  package mutating func offer(_ row: Row, isMatch: Bool = false, copy: (Row) -> Row) -> Bool {
    guard matched < bound || isSorted else { return false }
    guard isMatch || matches(row) else { return true }
    matched += 1
    if isForCount { return matched < bound }
    if let groups { return groups.add(row, copy: copy) }
    if isSorted { return sort(row, copy) }
    if matched > window.offset {
      if let body { body(row) } else { rows.append(copy(row)) }
    }
    return matched < bound
  }

  /// Evaluates what the fetch asks of a row, and forgets it. What it reads can then be read before the row is offered.
  package func rehearse(_ row: Row, isMatch: Bool) {
    guard isMatch || matches(row), !isForCount else { return }
    if let groups { groups.rehearse(row) } else if isSorted { _ = fetch.sort?.keys(of: row) }
  }

  // Not inlined: the types that it uses take time to look up.
  @inline(never)
  private mutating func sort(_ row: Row, _ copy: (Row) -> Row) -> Bool {
    guard let sort = fetch.sort else { return false }
    let keys = sort.keys(of: row)
    if let last, sort.order(keys, last) != .orderedAscending { return true }
    let kept = copy(row)
    // An object among the keys may be the row itself, which the caller may reuse.
    sorted.append(CompiledSort.Keyed(keys: keys.contains(where: \.hasObjects) ? sort.keys(of: kept) : keys, row: kept))
    if sorted.count >= 1024, sorted.count / 2 >= bound {
      sorted = Array(sort.sorted(sorted).prefix(bound))
      last = sorted.last?.keys ?? []
    }
    return bound > 0
  }

  /// How many of the first rows in the order of the fetch are not needed.
  package var rowsToSkip: Int { groups == nil ? window.offset : 0 }

  /// Whether the window is a part of the rows, not of dictionaries that are made of several rows.
  package var hasRowWindow: Bool { groups == nil }

  /// Takes note that the first rows in the order of the fetch are not offered.
  ///
  /// - Parameter count: at most ``rowsToSkip``.
  package mutating func skip(_ count: Int) {
    window = window.moved(by: count)
    bound = window.end
  }

  /// How many rows that match are needed, unless a row that comes later belongs before them.
  package var rowsNeeded: Int { bound - matched }

  /// Whether enough rows matched for the answer, unless a row that comes later belongs before them.
  package var hasEnough: Bool { matched >= bound }

  /// The rows of the answer.
  package var result: [Row] {
    guard isSorted, let sort = fetch.sort else { return rows }
    return window(sort.sorted(sorted)).map(\.row)
  }

  /// The dictionaries of the answer.
  package var dictionaries: [NSDictionary] { dictionaries { _ in } }

  /// The dictionaries of the answer.
  ///
  /// - Parameter rehearse: Called before the dictionaries of some rows are made, with a closure that evaluates what these
  ///   dictionaries have.
  package func dictionaries(
    rehearsing rehearse: (_ evaluate: () -> Void) throws -> Void
  ) rethrows -> [NSDictionary] {
    guard let projection = fetch.projection else { fatalError("The request is not for dictionaries.") }
    if let groups { return projection.dictionaries(of: groups, window) }
    var dictionaries: [NSDictionary] = []
    var rest = result[...]
    while !rest.isEmpty {
      let rows = rest.prefix(256)
      try rehearse { for row in rows { _ = projection.dictionary(of: row) } }
      dictionaries += rows.map(projection.dictionary)
      rest = rest.dropFirst(rows.count)
    }
    return dictionaries
  }

  /// The dictionaries of a request that groups rows, made from groups of which it reads only values that are the same
  /// for all rows, and the number of rows. To be called once, without rows offered.
  package func dictionaries(of groups: [(first: Row, count: Int)]) -> [NSDictionary] {
    for group in groups { _ = self.groups?.add(group.first, count: group.count) { $0 } }
    return dictionaries
  }

  /// The number of rows in the answer.
  package var count: Int { max(0, min(matched, bound) - window.offset) }
}
