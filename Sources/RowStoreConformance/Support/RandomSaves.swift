import IncrementalStore

/// Random saves, and what a store should contain after them.
struct RandomSaves {
  private(set) var model = Model()
  private var random: SeededGenerator
  private let references: [UInt32: [RowReference]]
  private var lastRevisions: Set<UInt64> = []

  init(_ random: SeededGenerator, _ kind: RowReferenceKind) {
    self.random = random
    let few = (0..<8).map(kind.reference)
    references = [
      0: ownSamples, 1: few, 2: kind.samples, 70_000: (0..<60).map(kind.reference), .max - 2: ownSamples + few,
      .max: few,
    ]
  }

  /// Saves random changes, of nothing up to many rows and entries.
  mutating func save(to store: any RowStore) throws {
    let draft = draft()
    let revision = try store.save { try draft.changes($0) }
    model.apply(draft, revision: revision)
    guard !draft.rows.isEmpty else { return }
    try expect(
      lastRevisions.insert(revision).inserted, "The revision of a save should be new, but \(revision) was given before."
    )
  }

  mutating func draft() -> Draft {
    var draft = Draft()
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      let (table, references) = references.sorted { $0.key < $1.key }.randomElement(using: &random)!
      changeRow(references.randomElement(using: &random)!, in: table, &draft)
    }
    for _ in 0..<Int.random(in: 0...12, using: &random) { draft.add(entry()) }
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      draft.remove((Bool.random(using: &random) ? model.entries.randomElement(using: &random) : nil) ?? entry())
    }
    return draft
  }

  private mutating func changeRow(_ reference: RowReference, in table: UInt32, _ draft: inout Draft) {
    switch (model.row(reference, in: table), Int.random(in: 0..<4, using: &random)) {
    case (.some, 0): draft.delete(reference, in: table)
    case (.some, 1): draft.touch(reference, in: table)
    default:
      let isLong = Int.random(in: 0..<20, using: &random) == 0
      draft.put(random.bytes(isLong ? 3_000...9_000 : 0...50), reference, in: table)
    }
  }

  /// A table, with or without rows.
  mutating func table() -> UInt32 { (Array(references.keys).sorted() + [6]).randomElement(using: &random)! }

  /// A reference that rows of a table may have.
  mutating func reference(in table: UInt32) -> RowReference {
    (references[table] ?? references[1]!).randomElement(using: &random)!
  }

  /// An entry that may exist, or begin with one, or be the beginning of some.
  mutating func entry() -> [UInt8] {
    let isLong = Int.random(in: 0..<20, using: &random) == 0
    return isLong ? Array(repeating: 1, count: 500) + random.bytes(0...3) : random.bytes(1...4, upTo: 3)
  }
}
