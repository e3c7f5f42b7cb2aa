import CoreData

/// Rows of several tables in the order of their references, as if they were one table.
struct TableMerge {
  /// The next rows of one table, read `size` at a time.
  private struct Cursor {
    static let size = 256

    let map: EntityMap
    var rows: ArraySlice<StoredRow> = []
    var last: RowReference?
    var isAtEnd = false

    init(_ map: EntityMap) { self.map = map }

    mutating func fill(_ snapshot: any RowSnapshot, _ choice: RowChoice) throws {
      guard rows.isEmpty, !isAtEnd else { return }
      let last = last
      var read: [StoredRow] = []
      try snapshot.forEachRow(in: map.number, choice.behind(last)) { row in
        if row.reference != last { read.append(row.copy()) }
        return read.count < Self.size
      }
      isAtEnd = read.count < Self.size
      self.last = read.last?.reference ?? last
      rows = read[...]
    }
  }

  private let snapshot: any RowSnapshot
  private let choice: RowChoice
  private var cursors: [Cursor]

  init(_ maps: [EntityMap], _ choice: RowChoice, _ snapshot: any RowSnapshot) {
    self.snapshot = snapshot
    self.choice = choice
    cursors = maps.map(Cursor.init)
  }

  /// Calls `body` with each row until it returns false.
  mutating func forEachRow(_ body: (StoredRow, EntityMap) throws -> Bool) throws {
    while true {
      var first: Int?
      for place in cursors.indices {
        try cursors[place].fill(snapshot, choice)
        guard let row = cursors[place].rows.first else { continue }
        if let best = first.flatMap({ cursors[$0].rows.first }), best.reference <= row.reference { continue }
        first = place
      }
      guard let first else { return }
      guard try body(cursors[first].rows.removeFirst(), cursors[first].map) else { return }
    }
  }
}

extension RowChoice {
  /// The chosen rows from `last` on, with or without `last` itself.
  fileprivate func behind(_ last: RowReference?) -> RowChoice {
    guard let last else { return self }
    return switch self {
    case .all, .from: .from(last)
    case .these(let objects): .these(objects.filter { $0.reference > last })
    }
  }
}
