import Cairn

/// The expected state of a store: a dictionary of rows, and its state after each commit.
struct ModelStore {
  struct Row: Equatable {
    var value: [UInt8]
    var version: UInt64
    var sequence: CommitSequence
  }

  /// By encoded key.
  typealias Rows = [[UInt8]: Row]

  private(set) var rows: [Rows]
  /// The rows after each commit, beginning with the last commit that is known to be durable.
  private(set) var history: [(sequence: CommitSequence, rows: [Rows])]

  init(keyspaces: Int) {
    rows = Array(repeating: [:], count: keyspaces)
    history = [(0, rows)]
  }

  mutating func put(_ value: [UInt8], at key: [UInt8], in keyspace: Int, sequence: CommitSequence, before: [Rows]) {
    let version = before[keyspace][key].map { $0.version + 1 } ?? 1
    rows[keyspace][key] = Row(value: value, version: version, sequence: sequence)
  }

  mutating func delete(_ key: [UInt8], in keyspace: Int) { rows[keyspace][key] = nil }

  mutating func committed(_ sequence: CommitSequence) { history.append((sequence, rows)) }

  mutating func madeDurable(upTo sequence: CommitSequence) {
    if let last = history.lastIndex(where: { $0.sequence <= sequence }) { history.removeFirst(last) }
  }

  /// Goes back to the state after a commit; returns false if there was no such commit, or if a durable commit would be
  /// lost.
  mutating func recover(at sequence: CommitSequence) -> Bool {
    guard let index = history.firstIndex(where: { $0.sequence == sequence }) else { return false }
    rows = history[index].rows
    history = [history[index]]
    return true
  }

  static func sorted(_ rows: Rows) -> [(key: [UInt8], row: Row)] {
    rows.map { ($0.key, $0.value) }.sorted { $0.0.precedes($1.0) }
  }
}

extension [UInt8] {
  /// As `lexicographicallyPrecedes`, which allocates memory for each byte where it is not optimised.
  func precedes(_ other: [UInt8]) -> Bool {
    let common = Swift.min(count, other.count)
    var place = 0
    while place < common, self[place] == other[place] { place += 1 }
    return place < common ? self[place] < other[place] : count < other.count
  }
}
