import IncrementalStore

extension Promise {
  static let randomProgram = Promise("Random calls one after the other give what a simple model gives.") { session in
    var program = RandomProgram(session, stores: try session.stores(2))
    for _ in 0..<500 { try program.step() }
    try program.finish()
  }
}

/// Random calls of all methods, compared with a model.
private struct RandomProgram {
  private let session: Session
  private var random: SeededGenerator
  private var saves: RandomSaves
  private var stores: [any RowStore]
  private var snapshot: (snapshot: any RowSnapshot, model: Model)?

  init(_ session: Session, stores: [any RowStore]) {
    self.session = session
    self.stores = stores
    random = session.random()
    saves = RandomSaves(SeededGenerator(seed: random.next()), stores[0].referenceKind)
  }

  mutating func step() throws {
    let store = stores.randomElement(using: &random)!
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<5: try saves.save(to: store)
    case 5:
      let stopped = Stopped()
      try expectThrown(stopped, "The error of a save's closure") { _ = try store.save { _ in throw stopped } }
    case 6: snapshot = (try store.heldSnapshot(), saves.model)
    case 7 where session.isPersistent:
      snapshot = nil
      stores = [try session.reopen(), try session.store()]
    case 8: _ = try store.reserveReferences(.random(in: 1...3, using: &random))
    case 9: try saves.model.check(store.snapshot())
    case 10..<13: try readRows(store)
    default: try readEntries(store)
    }
  }

  /// Compares everything.
  mutating func finish() throws {
    for store in stores { try saves.model.check(store.snapshot()) }
    if let snapshot { try snapshot.model.check(snapshot.snapshot) }
  }

  /// The snapshot that is being held, or a new one.
  private mutating func anySnapshot(_ store: any RowStore) throws -> (any RowSnapshot, Model) {
    if let snapshot, Bool.random(using: &random) { return snapshot }
    return (try store.snapshot(), saves.model)
  }

  private mutating func readRows(_ store: any RowStore) throws {
    let (snapshot, model) = try anySnapshot(store)
    var table = saves.table()
    // In table 0 the store may have rows of its own.
    while table == 0 { table = saves.table() }
    let first = saves.reference(in: table)
    let limit = Int.random(in: 1...9, using: &random)
    let found = try snapshot.allRows(in: table, from: first, limit: limit)
    let expected = Array(model.rows(in: table, from: first).prefix(limit))
    try expect("The first \(limit) rows of table \(table) from \(first.name)", found, are: expected)
    let references = (0..<limit).map { _ in saves.reference(in: table) }
    let bulk = try snapshot.rows(references, in: table).map { $0.map(NamedRow.init) }
    let one = references.map { reference in model.row(reference, in: table).map { NamedRow(reference, $0) } }
    try expect("The rows of table \(table), read in bulk,", bulk, are: one)
    try expect("The count of table \(table)", snapshot.count(in: table), is: model.rows(in: table).count)
  }

  private mutating func readEntries(_ store: any RowStore) throws {
    let (snapshot, model) = try anySnapshot(store)
    let (lower, upper) = (saves.entry(), Bool.random(using: &random) ? saves.entry() : nil)
    let limit = Int.random(in: 1...9, using: &random)
    for reverse in [false, true] {
      let found = try snapshot.allEntries(from: lower, before: upper, reverse: reverse, limit: limit)
      let inOrder = model.entries(from: lower, before: upper)
      let expected = Array((reverse ? inOrder.reversed() : inOrder).prefix(limit))
      let end = upper.map { "before \($0.abbreviated)" } ?? "to the end"
      let order = reverse ? " in reverse order" : ""
      try expect("The first \(limit) entries from \(lower.abbreviated) \(end)\(order)", found, are: expected)
    }
    let prefixes = (0..<limit).map { _ in Array(saves.entry().prefix(2)) }
    let found = try snapshot.entries(beginningWith: prefixes, limit: limit)
    try expect(
      "The entries, read in bulk,", found, are: prefixes.map { model.entries(beginningWith: $0, limit: limit) })
  }
}
