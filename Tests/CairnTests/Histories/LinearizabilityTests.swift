import Cairn
import Testing

/// Histories written by hand: those that can be explained are accepted, those that cannot are refused.
@Suite struct LinearizabilityTests {
  typealias Operation = RowsModel.Operation

  private let empty = RowsModel.State(rows: [nil, nil])

  private func isLinearizable(
    _ calls: [(Operation, ClosedRange<Int>)], from initial: RowsModel.State? = nil, countsCommits: Bool = true
  ) -> Bool {
    let history = calls.enumerated().map { thread, call in
      Call(thread: thread, operation: call.0, began: call.1.lowerBound, ended: call.1.upperBound)
    }
    let checker = Linearizability(model: RowsModel(countsCommits: countsCommits))
    if case .linearizable = checker.check(history, from: initial ?? empty) { return true }
    return false
  }

  private func put(_ value: UInt64, at row: Int = 0, _ sequence: CommitSequence) -> Operation {
    .write([.init(row: row, change: .put(value))], .committed(sequence))
  }

  private func both(_ value: UInt64, _ sequence: CommitSequence) -> Operation {
    .write([.init(row: 0, change: .put(value)), .init(row: 1, change: .put(value))], .committed(sequence))
  }

  private func read(_ sights: RowsModel.Sight..., at sequence: CommitSequence? = nil) -> Operation {
    .read(sights.enumerated().map { RowsModel.Reading(row: $0, sight: $1) }, at: sequence)
  }

  @Test(arguments: [true, false]) func callsAtTheSameTimeHappenInAnyOrder(_ countsCommits: Bool) {
    let writes = [(put(1, 1), 1...10), (put(2, 2), 2...9)]
    for seen in [RowsModel.Sight.nothing, .value(1), .value(2)] {
      #expect(isLinearizable(writes + [(read(seen), 3...8)], countsCommits: countsCommits))
    }
    #expect(isLinearizable([], countsCommits: countsCommits))
  }

  @Test(arguments: [true, false]) func aStaleReadIsRefused(_ countsCommits: Bool) {
    #expect(
      !isLinearizable([(put(1, 1), 1...2), (put(2, 2), 3...4), (read(.value(1)), 5...6)], countsCommits: countsCommits))
    #expect(!isLinearizable([(put(1, 1), 1...2), (read(.nothing), 3...4)], countsCommits: countsCommits))
    #expect(
      !isLinearizable(
        // The new value is read, then the old one again, both during the write.
        [(put(1, 1), 1...10), (read(.value(1)), 2...3), (read(.nothing), 4...5)], countsCommits: countsCommits))
  }

  @Test(arguments: [true, false]) func aValueNobodyWroteIsRefused(_ countsCommits: Bool) {
    #expect(!isLinearizable([(put(1, 1), 1...2), (read(.value(7)), 1...4)], countsCommits: countsCommits))
    #expect(!isLinearizable([(read(.something), 1...2)], countsCommits: countsCommits))
    let wrong = RowsModel.Row(value: 1, version: 2, sequence: 1)
    #expect(!isLinearizable([(put(1, 1), 1...2), (read(.row(wrong)), 3...4)], countsCommits: countsCommits))
  }

  /// Two threads read the same sequence, and both are told that their change of it was committed.
  @Test(arguments: [true, false]) func aLostUpdateIsRefused(_ countsCommits: Bool) {
    func change(_ value: UInt64, _ outcome: RowsModel.Outcome) -> Operation {
      .write([.init(row: 0, change: .put(value), expectation: .sequence(1))], outcome)
    }
    let first = (put(1, 1), 1...2)
    #expect(
      !isLinearizable(
        [first, (change(2, .committed(2)), 3...6), (change(3, .committed(3)), 4...5)], countsCommits: countsCommits))
    let conflict = RowsModel.Conflict(row: 0, expected: .sequence(1), found: 2)
    #expect(
      isLinearizable(
        [first, (change(2, .committed(2)), 3...6), (change(3, .refused([conflict])), 4...5)],
        countsCommits: countsCommits))
    // Refused although there is no conflict, with a reason and without one.
    #expect(!isLinearizable([first, (change(3, .refused([conflict])), 4...5)], countsCommits: countsCommits))
    #expect(!isLinearizable([first, (change(3, .refused([])), 4...5)], countsCommits: countsCommits))
    // Two inserts of the same row.
    func insert(_ value: UInt64, _ sequence: CommitSequence) -> Operation {
      .write([.init(row: 0, change: .put(value), expectation: .absent)], .committed(sequence))
    }
    #expect(!isLinearizable([(insert(1, 1), 1...4), (insert(2, 2), 2...3)], countsCommits: countsCommits))
  }

  @Test(arguments: [true, false]) func halfABatchIsRefused(_ countsCommits: Bool) {
    let batch = (both(1, 1), 1...4)
    #expect(isLinearizable([batch, (read(.nothing, .nothing), 2...3)], countsCommits: countsCommits))
    #expect(isLinearizable([batch, (read(.value(1), .value(1)), 2...3)], countsCommits: countsCommits))
    #expect(!isLinearizable([batch, (read(.value(1), .nothing), 2...3)], countsCommits: countsCommits))
    // Two reads, one after the other, see only half of the batch.
    let second = Operation.read([.init(row: 1, sight: .nothing)])
    #expect(!isLinearizable([batch, (read(.value(1)), 2...3), (second, 5...6)], countsCommits: countsCommits))
  }

  /// Each row by itself is as it was at some moment of the read, but the two never were so at the same moment.
  @Test(arguments: [true, false]) func aTornSnapshotIsRefused(_ countsCommits: Bool) {
    let writes = [(both(1, 1), 1...2), (both(2, 2), 4...5), (both(3, 3), 6...7)]
    #expect(!isLinearizable(writes + [(read(.value(1), .value(2)), 3...8)], countsCommits: countsCommits))
    #expect(isLinearizable(writes + [(read(.value(2), .value(2)), 3...8)], countsCommits: countsCommits))
    // Two readers saw two writes in different orders.
    #expect(
      !isLinearizable(
        [
          (put(1, 1), 1...10), (put(1, at: 1, 2), 1...10), (read(.value(1), .nothing), 2...9),
          (read(.nothing, .value(1)), 2...9),
        ], countsCommits: countsCommits))
  }

  /// Only the commit numbers are wrong: the rows alone could be explained.
  @Test func commitsNumberedAgainstTimeAreRefused() {
    let swapped = [(put(1, 2), 1...2), (put(2, at: 1, 1), 3...4)]
    #expect(!isLinearizable(swapped))
    #expect(isLinearizable(swapped, countsCommits: false))
    let skipped = [(put(1, 1), 1...2), (put(2, 3), 3...4)]
    #expect(!isLinearizable(skipped))
    #expect(isLinearizable(skipped, countsCommits: false))
    let early = [(put(1, 1), 1...2), (read(.value(1), at: 2), 3...4)]
    #expect(!isLinearizable(early))
    #expect(isLinearizable(early, countsCommits: false))
    // A write that changes nothing takes no number.
    let delete = Operation.write([.init(row: 0, change: .delete)], .committed(1))
    #expect(isLinearizable([(put(1, at: 1, 1), 1...2), (delete, 3...4)]))
    #expect(!isLinearizable([(put(1, at: 1, 1), 1...2), (put(2, at: 1, 1), 3...4)]))
  }

  /// Ten concurrent writers allow 3,628,800 orders; because the search remembers states, it ends at once.
  @Test func manyCallsAtTheSameTimeAreDecided() {
    let writes = (1...10).map { (put(UInt64($0), at: $0 & 1, CommitSequence(UInt64($0))), 1...1000) }
    #expect(!isLinearizable(writes + [(read(.value(11)), 2...999)], countsCommits: false))
    #expect(isLinearizable(writes + [(read(.value(4), .value(7)), 2...999)], countsCommits: false))
  }
}
