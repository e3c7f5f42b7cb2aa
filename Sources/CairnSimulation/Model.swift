import Cairn

/// The expected state of a store: its rows, the rows after each commit, and which of these states a crash may leave.
struct Model: Sendable {
  struct Row: Equatable, Sendable {
    var value: [UInt8]
    var version: UInt64
    /// 0 in a commit whose sequence isn't known yet.
    var sequence: CommitSequence
  }

  /// A version of a row; the value is nil for a deletion.
  struct Version: Equatable, Sendable {
    var value: [UInt8]?
    var version: UInt64
    var sequence: CommitSequence
  }

  /// Rows by the number of their key.
  struct Keyspace: Equatable, Sendable {
    private(set) var retention = 1
    /// The versions of each row that are kept, newest first.
    private(set) var versions: [Int: [Version]] = [:]

    /// The current version of a row; nil if there is none.
    subscript(key: Int) -> Row? {
      guard let newest = versions[key]?.first, let value = newest.value else { return nil }
      return Row(value: value, version: newest.version, sequence: newest.sequence)
    }

    var count: Int { versions.count { $0.value[0].value != nil } }
    /// Versions that are not the newest of their rows.
    var olderCount: Int { versions.reduce(0) { $0 + $1.value.count - 1 } }

    mutating func add(_ version: Version, _ key: Int) {
      versions[key, default: []].insert(version, at: 0)
      prune(key)
    }

    mutating func retain(_ count: Int) {
      retention = count
      for key in versions.keys { prune(key) }
    }

    private mutating func prune(_ key: Int) {
      guard var kept = versions[key] else { return }
      kept.removeLast(max(0, kept.count - retention))
      // A deletion without older versions carries no information.
      versions[key] = kept.count == 1 && kept[0].value == nil ? nil : kept
    }

    fileprivate mutating func name(_ sequence: CommitSequence) {
      for key in versions.keys where versions[key]?[0].sequence == 0 { versions[key]?[0].sequence = sequence }
    }
  }

  typealias Rows = [Keyspace]

  private(set) var rows: Rows = Array(repeating: Keyspace(), count: Keys.names.count)
  /// The rows after each commit, oldest first.
  private(set) var history: [(sequence: CommitSequence, rows: Rows)]
  /// A loss of power must not lose anything up to this commit.
  private(set) var durable: CommitSequence = 0
  /// The rows after a commit that has begun; recovery may find the commit or not.
  var possible: Rows?
  /// The commits after the one that the store has been opened up to. They exist until the first write. Until then, none
  /// up to `durable` may be lost. A first write that has failed may have removed them or not, and a loss of power may
  /// bring them back.
  private(set) var left: Left?

  struct Left: Sendable {
    var history: [(sequence: CommitSequence, rows: Rows)]
    var durable: CommitSequence
    /// The first write has begun.
    var mayBeGone = false
  }

  init() { history = [(0, rows)] }

  var last: CommitSequence { history[history.count - 1].sequence }

  /// A loss of power must not lose any commit up to this one.
  var floor: CommitSequence {
    guard let left, !left.mayBeGone else { return durable }
    return left.durable
  }

  /// The end of a process must not lose any commit up to this one.
  var newest: CommitSequence {
    guard let left, !left.mayBeGone else { return last }
    return left.history[left.history.count - 1].sequence
  }

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
        result[change.keyspace].add(
          Version(value: Keys.value(length: length, fill: fill), version: (before?.version ?? 0) + 1, sequence: 0),
          change.key)
        changesSomething = true
      } else if let before {
        result[change.keyspace].add(Version(value: nil, version: before.version, sequence: 0), change.key)
        changesSomething = true
      }
    }
    return changesSomething ? result : nil
  }

  /// The rows after a keyspace has been dropped.
  func withoutRows(of keyspace: Int) -> Rows {
    var result = rows
    result[keyspace] = Keyspace()
    return result
  }

  /// The rows after a keyspace's retention has been changed.
  func retaining(_ count: Int, in keyspace: Int) -> Rows {
    var result = rows
    result[keyspace].retain(count)
    return result
  }

  private static func named(_ rows: Rows, _ sequence: CommitSequence) -> Rows {
    var named = rows
    for keyspace in named.indices { named[keyspace].name(sequence) }
    return named
  }

  mutating func committed(_ next: Rows, _ sequence: CommitSequence) {
    rows = Self.named(next, sequence)
    history.append((sequence, rows))
    possible = nil
    left = nil
  }

  /// From now on something may be written.
  mutating func mayWrite() { left?.mayBeGone = true }

  /// The store has been opened up to an earlier commit; the first write removes the commits after it.
  mutating func wentBack(to sequence: CommitSequence) {
    let after = history.filter { $0.sequence > sequence }
    guard !after.isEmpty else { return }
    history.removeAll { $0.sequence > sequence }
    rows = history[history.count - 1].rows
    left = Left(history: after, durable: durable)
    durable = min(durable, last)
    possible = nil
  }

  mutating func madeDurable(upTo sequence: CommitSequence) { durable = max(durable, sequence) }

  func expectation(_ change: Change) -> Expectation {
    let sequence = rows[change.keyspace][change.key]?.sequence
    return switch change.wish {
    case .anything: .anything
    case .present: .present
    case .absent: .absent
    case .current: sequence.map { .sequence($0) } ?? .absent
    case .stale: sequence.map { .sequence($0.next) } ?? .present
    }
  }

  func conflicts(_ changes: [Change]) -> Int {
    changes.count { change in
      let sequence = rows[change.keyspace][change.key]?.sequence
      return switch expectation(change) {
      case .anything: false
      case .present: sequence == nil
      case .absent: sequence != nil
      case .sequence(let expected): sequence != expected
      }
    }
  }

  // MARK: Recovering

  /// The expected rows if the last commit found has this sequence; nil if there is no such state.
  func state(at sequence: CommitSequence) -> Rows? {
    if let known = history.last(where: { $0.sequence <= sequence }) {
      if known.sequence == sequence { return known.rows }
      if let left, sequence >= left.durable, let found = left.history.first(where: { $0.sequence == sequence }) {
        return found.rows
      }
      if known.sequence == last, let possible { return Self.named(possible, sequence) }
    }
    return nil
  }

  /// The state that a store shows when it is opened up to a commit.
  func state(upTo sequence: CommitSequence) -> (sequence: CommitSequence, rows: Rows)? {
    (history + (left?.history ?? [])).last { $0.sequence <= sequence }
  }

  /// The sequence of a commit of the history, by number, modulo their count.
  func commit(_ number: Int) -> CommitSequence { history[number % history.count].sequence }

  /// Continues from the state that recovery has found; false if there is no such state.
  mutating func recovered(at sequence: CommitSequence) -> Bool {
    guard let found = state(at: sequence) else { return false }
    if let left, left.history.contains(where: { $0.sequence == sequence }) {
      history += left.history
      durable = left.durable
      self.left = nil
    } else if let left, !left.mayBeGone {
      self.left = nil
    }
    history.removeAll { $0.sequence >= sequence }
    rows = found
    history.append((sequence, found))
    possible = nil
    // Commits that damage has removed are no longer expected to be durable.
    durable = min(durable, sequence)
    return true
  }
}
