import IncrementalStore

extension Model {
  /// Checks that each way to read everything gives what the model has. In table 0 the store may have rows of its own.
  func check(_ snapshot: any RowSnapshot) throws {
    for table in tables.keys.sorted() {
      try expectRows(of: table, in: snapshot)
      if table != 0 { try expect("The count of table \(table)", snapshot.count(in: table), is: rows(in: table).count) }
    }
    try expect("The entries", snapshot.allEntries(), are: entries)
    try expect("The entries in reverse order", snapshot.allEntries(reverse: true), are: entries.reversed())
  }

  private func expectRows(of table: UInt32, in snapshot: any RowSnapshot) throws {
    let expected = rows(in: table)
    let found = try snapshot.allRows(in: table).filter { table != 0 || row($0.reference, in: 0) != nil }
    try expect("The rows of table \(table)", found, are: expected)
    for row in expected {
      let stored = try snapshot.row(row.reference, in: table)
      try expect("The row at \(row.reference.name) of table \(table)", stored.map(NamedRow.init), is: row)
      let stamp = try snapshot.stamp(of: row.reference, in: table)
      try expect(
        stamp?.version == stored?.version && stamp?.revision == stored?.revision,
        "The stamp of \(row.reference.name) in table \(table) should be that of the row.")
    }
    let bulk = try snapshot.rows(expected.map(\.reference), in: table).map { $0.map(NamedRow.init) }
    try expect("The rows of table \(table), read in bulk,", bulk, are: expected.map(Optional.some))
  }
}

extension RowSnapshot {
  /// The rows of a table, as far as they are read, at most `limit`.
  func allRows(in table: UInt32, from first: RowReference? = nil, limit: Int = .max) throws -> [NamedRow] {
    var rows: [NamedRow] = []
    try forEachRow(in: table, from: first) { row in
      rows.append(NamedRow(row))
      return rows.count < limit
    }
    return rows
  }

  /// The entries of a range, at most `limit`.
  func allEntries(
    from lower: [UInt8] = [], before upper: [UInt8]? = nil, reverse: Bool = false, limit: Int = .max
  ) throws -> [[UInt8]] {
    var entries: [[UInt8]] = []
    try forEachEntry(from: lower, before: upper, reverse: reverse) { entry in
      entries.append(entry)
      return entries.count < limit
    }
    return entries
  }
}

extension RowReference {
  /// The reference with its kind, and not longer than a line.
  var name: String {
    switch self {
    case .integer(let number): "the number \(number)"
    case .string(let text) where text.utf8.count > 40:
      "the string \(String(text.prefix(20)).debugDescription) … of \(text.utf8.count) bytes"
    case .string(let text): "the string \(text.debugDescription)"
    case .uuid: "the UUID \(self)"
    }
  }
}
