import IncrementalStore

extension Promise {
  static let savers = [increments, transfers, uniqueEntries, uniqueRows]

  private static let increments = Promise("Savers that increase the same numbers at once lose no change.") { session in
    let counters = (1...3).map(try session.store().referenceKind.reference)
    try session.run(savers: 4, rounds: 30) { store, thread, round in
      try store.apply { draft, snapshot in
        for counter in round % 5 == 0 ? counters : [counters[(thread + round) % 3]] {
          draft.put(bytes(try value(counter, snapshot) + 1), counter, in: 1)
        }
      }
    }
    let snapshot = try session.store().snapshot()
    let sum = try counters.map { try value($0, snapshot) }.reduce(0, +)
    try expect("The sum of the numbers", sum, is: 4 * (24 + 3 * 6))
    for counter in counters {
      let version = try snapshot.row(counter, in: 1)?.version
      try expect("The version of a number", version, is: UInt64(try value(counter, snapshot)))
    }
  }

  private static let transfers = Promise(
    "The sum of several rows stays the same in each snapshot, while savers move parts."
  ) {
    session in
    let accounts = (1...8).map(try session.store().referenceKind.reference)
    let total = 100 * accounts.count
    try session.store().apply { draft in for account in accounts { draft.put(bytes(100), account, in: 1) } }
    @Sendable func checkSum(_ snapshot: any RowSnapshot) throws {
      let sum = try accounts.map { try value($0, snapshot) }.reduce(0, +)
      try expect("The sum of the rows", sum, is: total)
      var read = 0
      try snapshot.forEachRow(in: 1, from: nil) { row in
        read += try number(row)
        return true
      }
      try expect("The sum of the rows in order", read, is: total)
    }
    var random = session.random()
    let start = random.next()
    try session.run(savers: 3, rounds: 30, readers: 1) { store, thread, round in
      var random = SeededGenerator(seed: start &+ UInt64(3 * round + thread))
      let (source, target) = (accounts.randomElement(using: &random)!, accounts.randomElement(using: &random)!)
      let wanted = Int.random(in: 1...70, using: &random)
      try store.apply { draft, snapshot in
        try checkSum(snapshot)
        let amount = min(wanted, try value(source, snapshot))
        guard source != target, amount > 0 else { return }
        draft.put(bytes(try value(source, snapshot) - amount), source, in: 1)
        draft.put(bytes(try value(target, snapshot) + amount), target, in: 1)
      }
    } read: { store in
      try checkSum(store.snapshot())
    }
    try checkSum(session.store().snapshot())
  }

  private static let uniqueEntries = Promise(
    "Of savers that each add an entry if they find none with its prefix, only the first one adds it."
  ) { session in
    let reference = try session.store().referenceKind.reference
    let prefixes = (0..<25 as Range<UInt8>).map { [7, $0] as [UInt8] }
    try session.run(savers: 4, rounds: prefixes.count) { store, thread, round in
      let prefix = prefixes[thread % 2 == 0 ? round : prefixes.count - 1 - round]
      try store.apply { draft, snapshot in
        // Changes a row of its own in any case, so that every save has something to write.
        draft.put(prefix, reference(thread), in: 1)
        let found =
          thread < 2
          ? try snapshot.allEntries(from: prefix, before: [7, prefix[1] + 1])
          : try snapshot.entries(beginningWith: [prefix], limit: 2)[0]
        if found.isEmpty { draft.add(prefix + [UInt8(thread)]) }
      }
    }
    let snapshot = try session.store().snapshot()
    for prefix in prefixes {
      let found = try snapshot.allEntries(from: prefix, before: [7, prefix[1] + 1])
      try expect("The number of entries that begin with \(prefix.abbreviated)", found.count, is: 1)
    }
  }

  private static let uniqueRows = Promise(
    "Of savers that each insert a row if they find none of others, only the first one inserts it."
  ) { session in
    let reference = try session.store().referenceKind.reference
    let tables = 10..<20 as Range<UInt32>
    try session.run(savers: 4, rounds: tables.count) { store, thread, round in
      let table = tables[tables.startIndex + UInt32(round)]
      try store.apply { draft, snapshot in
        let isEmpty =
          switch thread {
          case 0: try snapshot.count(in: table) == 0
          case 1: try snapshot.allRows(in: table, limit: 1).isEmpty
          case 2: try (0..<4).allSatisfy { try snapshot.row(reference($0), in: table) == nil }
          default: try snapshot.rows((0..<4).map(reference), in: table).allSatisfy { $0 == nil }
          }
        if isEmpty { draft.put([UInt8(thread)], reference(thread), in: table) }
      }
    }
    let snapshot = try session.store().snapshot()
    for table in tables { try expect("The number of rows in table \(table)", snapshot.count(in: table), is: 1) }
  }
}

private func bytes(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }

/// The number in a row; 0 if there is no row.
private func value(_ reference: RowReference, _ snapshot: any RowSnapshot) throws -> Int {
  try snapshot.row(reference, in: 1).map { try number($0) } ?? 0
}

private func number(_ row: StoredRow) throws -> Int {
  guard let number = Int(String(decoding: row.bytes, as: UTF8.self)) else {
    throw Finding("A row should have a number, but has \(row.bytes.abbreviated).")
  }
  return number
}
