import IncrementalStore

extension Promise {
  static let rows = [
    changedRows, reinsertedRow, emptyTables, rowOrder, ownRows, rowBytes, rowRanges, nestedReads,
  ]

  private static let changedRows = Promise(
    "Rows that are put, touched and deleted have the right version and revision."
  ) {
    session in
    let store = try session.store()
    let reference = store.referenceKind.reference
    var model = Model()
    func save(_ fill: (inout Draft) -> Void) throws {
      try model.save(to: store, fill)
      try model.check(store.snapshot())
    }
    try save { draft in for number in 1...4 { draft.put([UInt8(number)], reference(number), in: 1) } }
    try save { draft in
      draft.put([20], reference(2), in: 1)
      draft.touch(reference(3), in: 1)
      draft.delete(reference(4), in: 1)
      draft.put([50], reference(5), in: 1)
    }
    try save { $0.touch(reference(3), in: 1) }
    try save { $0.put([30, 31], reference(3), in: 1) }
    try save { $0.put([30, 31], reference(3), in: 1) }
    try save { draft in
      draft.touch(reference(3), in: 1)
      draft.touch(reference(1), in: 1)
    }
    // The same reference in another table is another row.
    try save { $0.put([60], reference(1), in: 2) }
    try save { $0.delete(reference(1), in: 1) }
    try expect("The deleted row", store.snapshot().row(reference(1), in: 1).map(NamedRow.init), is: nil)
  }

  private static let reinsertedRow = Promise("A row that is deleted and inserted again starts at version 1.") {
    session in
    let store = try session.store()
    let reference = store.referenceKind.reference(7)
    var model = Model()
    for round in 1...3 as ClosedRange<UInt8> {
      try model.save(to: store) { $0.put([round], reference, in: 1) }
      try model.save(to: store) { $0.put([round, round], reference, in: 1) }
      try model.save(to: store) { $0.touch(reference, in: 1) }
      try model.check(store.snapshot())
      try model.save(to: store) { $0.delete(reference, in: 1) }
      try model.check(store.snapshot())
    }
  }

  private static let emptyTables = Promise("A table without rows reads as empty.") { session in
    let store = try session.store()
    let reference = store.referenceKind.reference(1)
    func expectEmpty(_ table: UInt32) throws {
      let snapshot = try store.snapshot()
      try expect("The row of table \(table)", snapshot.row(reference, in: table).map(NamedRow.init), is: nil)
      try expect("The rows of table \(table)", snapshot.allRows(in: table), are: [])
      try expect("The rows from a reference", snapshot.allRows(in: table, from: reference), are: [])
      try expect("The count of table \(table)", snapshot.count(in: table), is: 0)
      try expect("The rows in bulk", snapshot.rows([reference], in: table).map { $0.map(NamedRow.init) }, are: [nil])
    }
    for table in [5, .max - 1] as [UInt32] {
      try expectEmpty(table)
      try store.apply { $0.put([1], reference, in: table) }
      try store.apply { $0.delete(reference, in: table) }
      try expectEmpty(table)
    }
    try expect("The entries", store.snapshot().allEntries(), are: [])
  }

  private static let rowOrder = Promise("Rows are read in the order of their references.") { session in
    let store = try session.store()
    var model = Model()
    let samples = store.referenceKind.samples
    for table in objectTables {
      try model.save(to: store) { draft in
        for (place, reference) in samples.enumerated() { draft.put([UInt8(place)], reference, in: table) }
      }
    }
    try model.check(store.snapshot())
    try model.save(to: store) { draft in
      for place in stride(from: 0, to: samples.count, by: 2) { draft.delete(samples[place], in: 2) }
    }
    try model.check(store.snapshot())
  }

  private static let ownRows = Promise(
    "Table 0 and the four highest tables keep rows under numbers and strings, besides references of the store's kind."
  ) { session in
    let store = try session.store()
    let references = Set(ownSamples + (2000..<2010).map(store.referenceKind.reference))
    var model = Model()
    for table in ownTables {
      try model.save(to: store) { draft in
        for (place, reference) in references.enumerated() { draft.put([UInt8(place)], reference, in: table) }
      }
    }
    try model.check(store.snapshot())
    try model.save(to: store) { draft in
      for table in ownTables { for reference in ownSamples.prefix(9) { draft.touch(reference, in: table) } }
    }
    try model.check(store.snapshot())
  }

  private static let rowBytes = Promise("Rows keep all bytes that they are given, from none to 1 MB.") { session in
    let store = try session.store()
    var random = session.random()
    var model = Model()
    let contents = [[], [0], [0xFF], [0, 0, 0], Array(0...0xFF), random.bytes(65_536...65_536)]
    try model.save(to: store) { draft in
      for (number, bytes) in contents.enumerated() { draft.put(bytes, store.referenceKind.reference(number), in: 1) }
    }
    let large = store.referenceKind.reference(contents.count)
    try model.save(to: store) { $0.put(random.bytes(1_000_000...1_000_000), large, in: 1) }
    try model.save(to: store) { $0.touch(large, in: 1) }
    try model.check(store.snapshot())
    try model.save(to: store) { draft in
      for number in contents.indices {
        draft.put(contents[contents.count - 1 - number], store.referenceKind.reference(number), in: 1)
      }
      draft.put([], large, in: 1)
    }
    try model.check(store.snapshot())
  }

  private static let rowRanges = Promise("Reading rows starts at the given reference and stops when told to.") {
    session in
    let store = try session.store()
    let reference = store.referenceKind.reference
    var model = Model()
    try model.save(to: store) { draft in
      for number in 1...300 { draft.put([UInt8(number / 2)], reference(2 * number), in: 1) }
    }
    let snapshot = try store.snapshot()
    for first in [0, 2, 3, 4, 299, 300, 301, 599, 600, 601].map(reference) {
      let expected = model.rows(in: 1, from: first)
      try expect("The rows from \(first.name)", snapshot.allRows(in: 1, from: first), are: expected)
      for limit in [1, 2, 150] {
        let found = try snapshot.allRows(in: 1, from: first, limit: limit)
        try expect("The first \(limit) rows from \(first.name)", found, are: Array(expected.prefix(limit)))
      }
      var references: [String] = []
      try snapshot.forEachReference(in: 1, from: first) { reference in
        references.append(reference.name)
        return references.count < 150
      }
      try expect(
        "The references from \(first.name)", references, are: expected.prefix(150).map(\.reference.name))
    }
    let stopped = Stopped()
    try expectThrown(stopped, "The error of a closure that reads rows") {
      try snapshot.forEachRow(in: 1, from: nil) { _ in throw stopped }
    }
    var (tested, passed): ([[UInt8]], [NamedRow]) = ([], [])
    try snapshot.forEachRow(in: 1, from: reference(4)) { bytes in
      tested.append(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
      return tested.count.isMultiple(of: 3)
    } _: { row in
      passed.append(NamedRow(row))
      return passed.count < 40
    }
    let rows = model.rows(in: 1, from: reference(4)).prefix(120)
    try expect("The bytes of rows that are tested", tested, are: rows.map(\.row.bytes))
    try expect(
      "The rows that pass a test", passed, are: rows.enumerated().filter { $0.offset % 3 == 2 }.map(\.element))
    try expectThrown(stopped, "The error of a closure that tests rows") {
      try snapshot.forEachRow(in: 1, from: nil, where: { _ in throw stopped }) { _ in true }
    }
  }

  private static let nestedReads = Promise("Everything can be read while rows or entries are being read.") { session in
    let store = try session.store()
    let reference = store.referenceKind.reference
    var model = Model()
    try model.save(to: store) { draft in
      for number in 1...100 {
        draft.put([UInt8(number)], reference(number), in: 1)
        draft.put([UInt8(number), 2], reference(number), in: 2)
        draft.add([UInt8(number), 1])
      }
    }
    let snapshot = try store.snapshot()
    func readOthers(_ number: Int) throws {
      let other = try snapshot.row(reference(101 - number), in: 1).map(NamedRow.init)
      try expect("A row read meanwhile", other, is: model.rows(in: 1)[100 - number])
      let rows = try snapshot.allRows(in: 2, from: reference(number), limit: 3)
      try expect("Rows read meanwhile", rows, are: Array(model.rows(in: 2, from: reference(number)).prefix(3)))
      let entries = try snapshot.allEntries(from: [UInt8(number)], limit: 3)
      try expect("Entries read meanwhile", entries, are: Array(model.entries.suffix(101 - number).prefix(3)))
      try expect("Rows counted meanwhile", snapshot.count(in: 1), is: 100)
    }
    var rows: [NamedRow] = []
    try snapshot.forEachRow(in: 1, from: nil) { row in
      try readOthers(rows.count + 1)
      rows.append(NamedRow(row))
      return true
    }
    try expect("The rows", rows, are: model.rows(in: 1))
    for reverse in [false, true] {
      var entries: [[UInt8]] = []
      try snapshot.forEachEntry(from: [], before: nil, reverse: reverse) { entry in
        try readOthers(entries.count + 1)
        entries.append(entry)
        return true
      }
      try expect("The entries", entries, are: reverse ? model.entries.reversed() : model.entries)
    }
  }
}
