import IncrementalStore

extension Promise {
  static let bulkReads = [bulkRows, bulkEntries, bulkRowsAndEntries]

  private static let bulkRows = Promise(
    "Rows read in bulk are those read one by one, also if some do not exist or are asked for twice."
  ) { session in
    let store = try session.store()
    var random = session.random()
    let reference = store.referenceKind.reference
    try store.apply { draft in
      for number in 1...200 where number % 3 > 0 { draft.put(random.bytes(0...40), reference(number), in: 1) }
    }
    try store.apply { draft in for number in 1...20 where number % 3 > 0 { draft.touch(reference(number), in: 1) } }
    let snapshot = try store.snapshot()
    for numbers in [[], [1], [3], [1, 2, 3, 4], [5, 5, 6, 6, 7], [8, 300, 2, 8, 3, 1], Array(0...250)] {
      let expected = try numbers.map { try snapshot.row(reference($0), in: 1).map(NamedRow.init) }
      let found = try snapshot.rows(numbers.map(reference), in: 1).map { $0.map(NamedRow.init) }
      try expect("The rows read in bulk", found, are: expected)
    }
  }

  private static let bulkEntries = Promise(
    "Entries read in bulk are those that begin with each prefix, in order, and no more than asked for."
  ) { session in
    let store = try session.store()
    var random = session.random()
    var model = Model()
    try model.save(to: store) { draft in
      for _ in 1...300 { draft.add(random.bytes(1...5, upTo: 2)) }
      for last in 0...9 as ClosedRange<UInt8> { draft.add([0xFF, 0xFF, last]) }
      draft.add([0xFF])
    }
    let snapshot = try store.snapshot()
    let lists: [[[UInt8]]] = [
      [], [[]], [[1]], [[7]], [[0xFF]], [[0xFF, 0xFF]], [[1], [1, 1], [1, 1, 1]], [[2], [2], [9], [2], [1]],
      [[0], [0, 0], [0, 1], [0xFF], [1], [2, 2]], (0..<100).map { _ in random.bytes(1...4, upTo: 3) },
    ]
    for prefixes in lists {
      for limit in [0, 1, 3, 64, 1000] {
        let found = try snapshot.entries(beginningWith: prefixes, limit: limit)
        try expect("The number of lists for \(prefixes.count) prefixes", found.count, is: prefixes.count)
        for (prefix, found) in zip(prefixes, found) {
          let expected = model.entries(beginningWith: prefix, limit: limit)
          try expect("The first \(limit) entries that begin with \(prefix.abbreviated)", found, are: expected)
        }
      }
    }
  }

  private static let bulkRowsAndEntries = Promise(
    "Rows of several tables and entries that are read in one call are those read by one call for each table."
  ) { session in
    let store = try session.store()
    let reference = store.referenceKind.reference
    try store.apply { draft in
      for number in 1...20 { draft.put([UInt8(number)], reference(number), in: UInt32(number % 3)) }
      for number in 1...20 as ClosedRange<UInt8> { draft.add([number % 4, number]) }
    }
    let snapshot = try store.snapshot()
    let tables: [[UInt32: [Int]]] = [
      [:], [1: []], [2: [2]], [0: [21, 3, 3], 1: [7, 4, 2], 2: [20, 2]], [0: [6], 9: [1, 2]],
    ]
    for numbers in tables {
      for prefixes in [[], [[1]], [[3], [0], [7], [3]]] as [[[UInt8]]] {
        let references = numbers.mapValues { $0.map(reference) }
        let found = try snapshot.rows(references, entriesBeginningWith: prefixes, limit: 3)
        try expect("The number of tables", found.rows.count, is: references.count)
        for (table, references) in references {
          let expected = try snapshot.rows(references, in: table).map { $0.map(NamedRow.init) }
          let rows = (found.rows[table] ?? []).map { $0.map(NamedRow.init) }
          try expect("The rows of table \(table) read in one call", rows, are: expected)
        }
        let expected = try snapshot.entries(beginningWith: prefixes, limit: 3)
        try expect("The entries read in one call", found.entries, are: expected)
      }
    }
  }
}
