import Cairn

/// What a store should be: its rows, what they were after each commit, and which of these states a crash may leave.
struct Model: Sendable {
  struct Row: Equatable, Sendable {
    var value: [UInt8]
    var version: UInt64
    /// 0 in a commit whose sequence isn't known yet.
    var revision: UInt64
  }

  /// By keyspace and number of the key.
  typealias Rows = [[Int: Row]]

  private(set) var rows: Rows = Array(repeating: [:], count: Keys.keyspaces)
  /// The rows after each commit, oldest first.
  private(set) var history: [(sequence: UInt64, rows: Rows)]
  /// Everything up to this commit survives the loss of power.
  private(set) var durable: UInt64 = 0
  /// A commit that has been begun and may be found, or not.
  var possible: Rows?

  init() { history = [(0, rows)] }

  var last: UInt64 { history[history.count - 1].sequence }

  // MARK: Writing

  /// The rows after a batch; nil if it changes nothing.
  func after(_ changes: [Change]) -> Rows? {
    var effects: [(change: Change, isLast: Bool)] = []
    for change in changes where change.kind != .check {
      for index in effects.indices
      where effects[index].change.keyspace == change.keyspace && effects[index].change.key == change.key {
        effects[index].isLast = false
      }
      effects.append((change, true))
    }
    var result = rows
    var changesSomething = false
    for (change, isLast) in effects where isLast {
      let before = rows[change.keyspace][change.key]
      if case .put(let length, let fill) = change.kind {
        result[change.keyspace][change.key] = Row(
          value: Keys.value(length: length, fill: fill), version: (before?.version ?? 0) + 1, revision: 0)
        changesSomething = true
      } else if before != nil {
        result[change.keyspace][change.key] = nil
        changesSomething = true
      }
    }
    return changesSomething ? result : nil
  }

  /// The rows after a keyspace has been dropped.
  func withoutRows(of keyspace: Int) -> Rows {
    var result = rows
    result[keyspace] = [:]
    return result
  }

  private static func named(_ rows: Rows, _ sequence: UInt64) -> Rows {
    rows.map {
      $0.mapValues { row in row.revision == 0 ? Row(value: row.value, version: row.version, revision: sequence) : row }
    }
  }

  mutating func committed(_ next: Rows, _ sequence: UInt64) {
    rows = Self.named(next, sequence)
    history.append((sequence, rows))
    possible = nil
  }

  mutating func madeDurable(upTo sequence: UInt64) { durable = max(durable, sequence) }

  func expectation(_ change: Change) -> Expectation {
    let revision = rows[change.keyspace][change.key]?.revision
    return switch change.wish {
    case .anything: .anything
    case .present: .present
    case .absent: .absent
    case .current: revision.map { .revision($0) } ?? .absent
    case .stale: revision.map { .revision($0 + 1) } ?? .present
    }
  }

  func conflicts(_ changes: [Change]) -> Int {
    changes.count { change in
      let revision = rows[change.keyspace][change.key]?.revision
      return switch expectation(change) {
      case .anything: false
      case .present: revision == nil
      case .absent: revision != nil
      case .revision(let expected): revision != expected
      }
    }
  }

  // MARK: Recovering

  /// What should be there if the last commit found has this sequence; nil if there is no such state.
  func state(at sequence: UInt64) -> Rows? {
    if let known = history.last(where: { $0.sequence <= sequence }) {
      if known.sequence == sequence { return known.rows }
      if known.sequence == last, let possible { return Self.named(possible, sequence) }
    }
    return nil
  }

  /// Goes on from there.
  mutating func recovered(at sequence: UInt64) -> Bool {
    guard let found = state(at: sequence) else { return false }
    history.removeAll { $0.sequence >= sequence }
    rows = found
    history.append((sequence, found))
    possible = nil
    // What was claimed of commits that damage has taken is void.
    durable = min(durable, sequence)
    return true
  }
}
