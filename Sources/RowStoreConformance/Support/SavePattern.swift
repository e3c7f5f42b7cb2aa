import IncrementalStore

/// Numbered saves of which each changes many rows and entries, so that a reader can tell whether it sees the whole of
/// one save and nothing of any other.
struct SavePattern: Sendable {
  /// Rows that each save replaces, touches, or deletes and inserts.
  private static let table: UInt32 = 3
  /// A row for each save, under a new reference.
  private static let log: UInt32 = 4
  private static let replaced = 1...8
  private static let touched = 9
  /// One of these exists after a save with an even number, the other one after a save with an odd number.
  private static let alternating = [10, 11]

  private let reference: @Sendable (Int) -> RowReference

  init(_ kind: RowReferenceKind) { reference = kind.reference }

  /// Makes the save that follows the last one in the store. Returns its number, counted from 1.
  func save(to store: any RowStore) throws -> Int {
    let new = try store.reserveReferences(1)[0]
    var number = 0
    try store.apply { draft, snapshot in
      let last = try self.number(in: snapshot)
      try expect(snapshot.row(new, in: Self.log) == nil, "The reference \(new) should be new, but has a row already.")
      number = last + 1
      if last == 0 { draft.put([1], .integer(1), in: 0) }
      for place in Self.replaced { draft.put(Self.bytes(number, place), reference(place), in: Self.table) }
      if last == 0 {
        draft.put([], reference(Self.touched), in: Self.table)
      } else {
        draft.touch(reference(Self.touched), in: Self.table)
        draft.delete(reference(Self.alternating[last % 2]), in: Self.table)
      }
      draft.put(Self.bytes(number, 1), reference(Self.alternating[number % 2]), in: Self.table)
      draft.put(Self.bytes(number, 1), new, in: Self.log)
      for entry in Self.entries(last) { draft.remove(entry) }
      for entry in Self.entries(number) { draft.add(entry) }
    }
    return number
  }

  /// The number of the last save; 0 if there was none. Throws if the snapshot does not have all of it and nothing else.
  func number(in snapshot: any RowSnapshot) throws -> Int {
    let rows = try snapshot.allRows(in: Self.table)
    let number = Int(rows.first?.row.version ?? 0)
    let revision = rows.first?.row.revision ?? 0
    var expected: [NamedRow] = []
    func expectRow(_ place: Int, _ bytes: [UInt8], version: Int) {
      let row = Model.Row(bytes: bytes, version: UInt64(version), revision: revision)
      expected.append(NamedRow(reference(place), row))
    }
    if number > 0 {
      for place in Self.replaced { expectRow(place, Self.bytes(number, place), version: number) }
      expectRow(Self.touched, [], version: number)
      expectRow(Self.alternating[number % 2], Self.bytes(number, 1), version: 1)
    }
    try expect("The rows after save \(number)", rows, are: expected)
    try expect("The entries after save \(number)", snapshot.allEntries(), are: Self.entries(number))
    try expect("The number of rows that \(number) saves have inserted", snapshot.count(in: Self.log), is: number)
    return number
  }

  /// Checks that each save up to the last one has left the row that it has inserted.
  func checkLog(_ snapshot: any RowSnapshot) throws {
    let number = try number(in: snapshot)
    let found = try snapshot.allRows(in: Self.log).map(\.row.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    let expected = (0..<number).map { Self.bytes($0 + 1, 1) }.sorted { $0.lexicographicallyPrecedes($1) }
    try expect("The rows that \(number) saves have inserted", found, are: expected)
  }

  private static func bytes(_ number: Int, _ place: Int) -> [UInt8] {
    Array(String(repeating: "save \(number) ", count: place * (1 + number % 7)).utf8)
  }

  private static func entries(_ number: Int) -> [[UInt8]] {
    number == 0 ? [] : (0..<20).map { [3, $0] + Array("save \(number)".utf8) }
  }
}
