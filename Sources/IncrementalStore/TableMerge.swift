import CoreData

/// Rows of several tables in the order of their references, as if they were one table.
struct TableMerge {
  /// The next rows of one table, read `size` at a time.
  private struct Cursor {
    static let size = 256

    let map: EntityMap
    var rows: ArraySlice<StoredRow> = []
    let first: RowReference?
    var last: RowReference?
    var isAtEnd = false

    init(_ map: EntityMap, from first: RowReference?) {
      self.map = map
      self.first = first
    }

    mutating func fill(_ snapshot: any RowSnapshot) throws {
      guard rows.isEmpty, !isAtEnd else { return }
      let last = last
      var read: [StoredRow] = []
      try snapshot.forEachRow(in: map.number, from: last ?? first) { row in
        if row.reference != last { read.append(row.copy()) }
        return read.count < Self.size
      }
      isAtEnd = read.count < Self.size
      self.last = read.last?.reference ?? last
      rows = read[...]
    }
  }

  private let snapshot: any RowSnapshot
  private var cursors: [Cursor]

  /// Rows before `first` are skipped.
  init(_ maps: [EntityMap], from first: RowReference?, _ snapshot: any RowSnapshot) {
    self.snapshot = snapshot
    cursors = maps.map { Cursor($0, from: first) }
  }

  /// Calls `body` with each row until it returns false.
  mutating func forEachRow(_ body: (StoredRow, EntityMap) throws -> Bool) throws {
    while true {
      var first: Int?
      for place in cursors.indices {
        try cursors[place].fill(snapshot)
        guard let row = cursors[place].rows.first else { continue }
        if let best = first.flatMap({ cursors[$0].rows.first }), best.reference <= row.reference { continue }
        first = place
      }
      guard let first else { return }
      guard try body(cursors[first].rows.removeFirst(), cursors[first].map) else { return }
    }
  }
}
