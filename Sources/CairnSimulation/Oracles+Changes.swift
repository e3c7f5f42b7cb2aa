import Cairn

extension Oracles {
  /// Requires that the changes since one of the earlier commits lead from its rows to the present ones, unless the
  /// position has expired.
  mutating func compareChanges(
    _ store: Store, _ model: Model, _ rows: Model.Rows, _ random: inout SplitMix64
  ) throws {
    let earlier = model.history.filter { $0.sequence <= store.lastSequence }
    guard let (sequence, start) = earlier.randomElement(using: &random) else { return }
    try located("changes since commit \(sequence)", .changes) {
      var found = start.map(values)
      do throws(StoreError) {
        var cursor = try store.changes(since: store.position(behind: sequence))
        var last = sequence
        while let commit = try cursor.next() {
          for change in commit.changes { apply(change, to: &found) }
          guard commit.sequence >= last else { throw StoreError(.corrupted, "commit \(commit.sequence) after \(last)") }
          last = commit.sequence
        }
      } catch {
        guard error.code == .positionExpired else { throw error }
        tally.expiredPositions += 1
        return
      }
      tally.readChanges += 1
      for (number, expected) in rows.map(values).enumerated() {
        try require(
          found[number] == expected, .changes,
          "they lead to \(found[number].count) rows of \(Keys.names[number]), not to the \(expected.count) there are")
      }
    }
  }

  private func values(_ keyspace: Model.Keyspace) -> [[UInt8]: [UInt8]] {
    var values: [[UInt8]: [UInt8]] = [:]
    for key in keyspace.versions.keys { values[keys.encoded[key]] = keyspace[key]?.value }
    return values
  }

  private func apply(_ change: RowChange, to found: inout [[[UInt8]: [UInt8]]]) {
    switch change {
    case .put(let row, let name): found[Self.number(name)][row.key.encoded] = row.value
    case .deleted(let key, let name): found[Self.number(name)][key.encoded] = nil
    case .dropped(let name): found[Self.number(name)] = [:]
    }
  }

  private static func number(_ name: String) -> Int {
    guard let number = Keys.names.firstIndex(of: name) else { fatalError("a change of the unknown keyspace \(name)") }
    return number
  }
}
