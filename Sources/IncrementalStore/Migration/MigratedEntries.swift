/// How the entries of a store differ from those that a new schema needs.
struct MigratedEntries {
  private var differences: [(number: UInt32, difference: SourceDifference)] = []
  /// Whether there are no other differences.
  private(set) var areWhole = true

  /// The numbers of the relationships and constraints whose entries differ.
  var numbers: [UInt32] { differences.map(\.number) }

  /// - Parameter limit: About how many entries are held in memory.
  /// - Throws: 134111 if objects violate a new uniqueness constraint.
  init(_ evolution: SchemaEvolution, _ snapshot: any RowSnapshot, limit: Int) throws {
    var snapshot = snapshot
    var left = limit
    for source in evolution.entrySources {
      let difference = try SourceDifference(source, snapshot, limit: left)
      let count = difference.missing.count + difference.surplus.count
      if count > 0 {
        differences.append((source.number, difference))
        snapshot = AmendedSnapshot(snapshot, removed: difference.surplus, added: difference.missing)
        left = max(left - count, 1)
      }
      areWhole = difference.isWhole
      guard areWhole else { return }
      try source.check(snapshot)
    }
  }

  /// The changes by which the entries of some relationships and constraints become those that are needed.
  func changes(of numbers: [UInt32]) -> EntryChanges {
    var changes = EntryChanges()
    for (number, difference) in differences where numbers.contains(number) {
      for entry in difference.missing { changes.add(entry) }
      for entry in difference.surplus { changes.remove(entry) }
    }
    return changes
  }
}
