package import Foundation

/// Executes a fetch over rows that come one by one, and keeps no more of them than the answer needs.
///
/// Without sort descriptors these are the rows of the window, and the last of them ends the fetch. With sort descriptors and a limit they are
/// twice as many as offset and limit together, which is what a fetch with a deep offset takes in memory.
package struct FetchCollector<Row> {
  private let fetch: CompiledFetch<Row>
  private let bound: Int
  private let isForCount: Bool
  private var rows: [Row] = []
  private var matched = 0

  /// - Parameter isForCount: whether rows are only counted.
  package init(_ fetch: CompiledFetch<Row>, isForCount: Bool = false) {
    self.fetch = fetch
    self.isForCount = isForCount && !fetch.givesDictionaries
    bound = fetch.givesDictionaries ? .max : fetch.window.end
  }

  /// Looks at a row, which may be another one when this returns.
  ///
  /// - Parameter copy: Makes a row that stays. Called for those that the answer may need.
  /// - Returns: Whether to go on.
  package mutating func offer(_ row: Row, copy: (Row) -> Row) -> Bool {
    guard matched < bound || fetch.sort != nil else { return false }
    guard fetch.matches(row) else { return true }
    matched += 1
    if isForCount { return matched < bound }
    guard let sort = fetch.sort, !fetch.givesDictionaries else {
      if fetch.givesDictionaries || matched > fetch.window.start { rows.append(copy(row)) }
      return matched < bound
    }
    rows.append(copy(row))
    if rows.count >= 1024, rows.count / 2 >= bound { rows = Array(sort.sorted(rows).prefix(bound)) }
    return true
  }

  /// The rows of the answer.
  package var result: [Row] {
    guard let sort = fetch.sort else { return rows }
    return fetch.window(sort.sorted(rows))
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
