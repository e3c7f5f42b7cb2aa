import Cairn

/// A few rows of a store, as a single thread would see them.
struct RowsModel: SequentialModel {
  /// Whether commits must be numbered one by one in the order in which they happen, and snapshots must report that
  /// number. If false, any answer is accepted that the rows explain.
  var countsCommits = true

  struct Row: Hashable, Sendable {
    var value: UInt64
    var version: UInt64
    var sequence: CommitSequence
  }

  struct State: Hashable, Sendable {
    var sequence: CommitSequence = 0
    var rows: [Row?]
  }

  /// What a read reports about one row.
  enum Sight: Hashable, Sendable {
    case nothing
    /// The row exists.
    case something
    case value(UInt64)
    case row(Row)

    func fits(_ row: Row?) -> Bool {
      guard let row else { return self == .nothing }
      return self == .something || self == .value(row.value) || self == .row(row)
    }
  }

  struct Reading: Hashable, Sendable {
    var row: Int
    var sight: Sight
  }

  enum Change: Hashable, Sendable {
    case put(UInt64)
    case delete
    case check
  }

  struct Step: Hashable, Sendable {
    var row: Int
    var change: Change
    var expectation = Expectation.anything
  }

  /// A row that was not as expected, and the sequence it had; nil if there was no row.
  struct Conflict: Hashable, Sendable {
    var row: Int
    var expected: Expectation
    var found: CommitSequence?
  }

  enum Outcome: Hashable, Sendable {
    case committed(CommitSequence)
    case refused([Conflict])
  }

  enum Operation: Hashable, Sendable {
    /// Several rows in one instant, and the number of the last commit before it, if that is known.
    case read([Reading], at: CommitSequence? = nil)
    /// Changes of different rows.
    case write([Step], Outcome)
  }

  func state(after operation: Operation, in state: State) -> State? {
    switch operation {
    case .read(let readings, let sequence):
      if countsCommits, let sequence, sequence != state.sequence { return nil }
      return readings.allSatisfy { $0.sight.fits(state.rows[$0.row]) } ? state : nil
    case .write(let steps, let outcome):
      let conflicts = steps.compactMap { step -> Conflict? in
        let sequence = state.rows[step.row]?.sequence
        return Self.holds(step.expectation, sequence)
          ? nil : Conflict(row: step.row, expected: step.expectation, found: sequence)
      }
      switch outcome {
      case .refused(let reported): return !conflicts.isEmpty && conflicts == reported ? state : nil
      case .committed(let sequence): return conflicts.isEmpty ? apply(steps, sequence, state) : nil
      }
    }
  }

  private func apply(_ steps: [Step], _ sequence: CommitSequence, _ state: State) -> State? {
    var next = state
    var isChanged = false
    for step in steps {
      switch step.change {
      case .check: continue
      case .put(let value):
        let version = (state.rows[step.row]?.version ?? 0) + 1
        next.rows[step.row] = Row(value: value, version: version, sequence: sequence)
        isChanged = true
      case .delete:
        isChanged = isChanged || state.rows[step.row] != nil
        next.rows[step.row] = nil
      }
    }
    guard countsCommits else { return next }
    guard sequence == state.sequence + (isChanged ? 1 : 0) else { return nil }
    next.sequence = sequence
    return next
  }

  private static func holds(_ expectation: Expectation, _ sequence: CommitSequence?) -> Bool {
    switch expectation {
    case .anything: true
    case .absent: sequence == nil
    case .present: sequence != nil
    case .sequence(let expected): sequence == expected
    }
  }
}

extension RowsModel {
  typealias History = [Call<Operation>]

  /// Throws a description of the whole history if it is not linearizable or its commits are misnumbered.
  static func check(_ history: History, from initial: State) throws(Mismatch) {
    let verdict = Linearizability(model: RowsModel()).check(history, from: initial)
    guard case .impossible(let longest, let blocked) = verdict else { return }
    // Find out which is wrong: the rows, or only the numbers of the commits.
    let plain = Linearizability(model: RowsModel(countsCommits: false)).check(history, from: initial)
    let what =
      if case .linearizable = plain { "commits are not numbered as they happened" } else { "not linearizable" }
    let lines = history.indices.sorted { history[$0].began < history[$1].began }.map { index in
      let call = history[index]
      let position = longest.firstIndex(of: index).map { "#\($0 + 1)" } ?? (index == blocked ? "blocked" : "")
      return "  \(call.began)–\(call.ended) thread \(call.thread): \(call.operation) \(position)"
    }
    throw Mismatch("\(what); from \(initial):\n\(lines.joined(separator: "\n"))")
  }
}

extension RowsModel.Operation: CustomStringConvertible {
  var description: String {
    switch self {
    case .read(let readings, let sequence):
      "read \(readings.map { "\($0.row): \($0.sight)" }) at \(sequence.map(String.init) ?? "?")"
    case .write(let steps, let outcome):
      "write \(steps.map { "\($0.row): \($0.change) expecting \($0.expectation)" }) -> \(outcome)"
    }
  }
}
