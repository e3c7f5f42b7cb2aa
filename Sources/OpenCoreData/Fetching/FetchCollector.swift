package import Foundation

/// Executes a fetch over rows that come one by one, and keeps no more of them than the answer needs.
///
/// Without sort descriptors these are the rows of the window, and the last of them ends the fetch. With sort
/// descriptors and a limit they are at most twice as many as offset and limit together, and a row that comes behind all
/// of these is dropped at once.
package struct FetchCollector<Row> {
  private let fetch: CompiledFetch<Row>
  private let matches: (Row) -> Bool
  /// Whether a row that comes later may belong before those that are there.
  private let isSorted: Bool
  /// How many rows the answer can need, those before its window included.
  private let bound: Int
  private let isForCount: Bool
  private var rows: [Row] = []
  private var sorted: [CompiledSort<Row>.Keyed] = []
  /// The last row that the answer can need still, as far as is known.
  private var last: [PredicateValue]?
  private var matched = 0

  /// - Parameter isForCount: whether rows are only counted.
  package init(_ fetch: CompiledFetch<Row>, isForCount: Bool = false) {
    self.fetch = fetch
    matches = fetch.matches
    isSorted = fetch.sort != nil
    self.isForCount = isForCount && !fetch.givesDictionaries
    bound = fetch.givesDictionaries ? .max : fetch.window.end
  }

  /// Looks at a row, which may be another one when this returns.
  ///
  /// - Parameter copy: Makes a row that stays. Called for those that the answer may need.
  /// - Returns: Whether to go on.
  package mutating func offer(_ row: Row, copy: (Row) -> Row) -> Bool {
    guard matched < bound || isSorted else { return false }
    guard matches(row) else { return true }
    matched += 1
    if isForCount { return matched < bound }
    return keep(row, copy)
  }

  private mutating func keep(_ row: Row, _ copy: (Row) -> Row) -> Bool {
    guard let sort = fetch.sort, !fetch.givesDictionaries else {
      if fetch.givesDictionaries || matched > fetch.window.start { rows.append(copy(row)) }
      return matched < bound
    }
    let keys = sort.keys(of: row)
    if let last, sort.order(keys, last) != .orderedAscending { return true }
    let kept = copy(row)
    // An object among the keys may be the row itself, which is another one soon.
    let hasObjects = keys.contains { if case .object = $0 { true } else { false } }
    sorted.append(CompiledSort.Keyed(keys: hasObjects ? sort.keys(of: kept) : keys, row: kept))
    if sorted.count >= 1024, sorted.count / 2 >= bound {
      sorted = Array(sort.sorted(sorted).prefix(bound))
      last = sorted.last?.keys ?? []
    }
    return bound > 0
  }

  /// The rows of the answer.
  package var result: [Row] {
    guard let sort = fetch.sort, !fetch.givesDictionaries else { return rows }
    return fetch.window(sort.sorted(sorted)).map(\.row)
  }

  /// The dictionaries of the answer.
  package var dictionaries: [NSDictionary] { fetch.dictionaries(ofMatching: rows) }

  /// The number of rows or dictionaries in the answer.
  package var count: Int {
    fetch.givesDictionaries ? dictionaries.count : max(0, min(matched, bound) - fetch.window.start)
  }
}

extension FetchWindow {
  /// The first result behind the window.
  fileprivate var end: Int { limit > Int.max - offset ? .max : offset + limit }
  fileprivate var start: Int { offset }
}
