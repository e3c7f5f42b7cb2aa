import IncrementalStore

extension Promise {
  static let references = [newReferences, referencesAfterReopening]

  private static let newReferences = Promise("References are of the store's kind, and never given out twice.") {
    session in
    let given = Given()
    try given.reserve([0, 1, 0, 10], in: session.store())
    try session.run(savers: 4, rounds: 25) { store, thread, round in
      try given.reserve([1, (thread + round) % 7, thread * 9], in: store)
    }
    try given.reserve([5_000, 1], in: session.store())
  }

  private static let referencesAfterReopening = Promise(
    "References that were given out are not given out again after the database is opened again.", needsPersistence: true
  ) { session in
    let given = Given()
    var store = try session.store()
    for _ in 1...5 {
      try given.reserve([1, 3], in: store)
      let used = try given.reserve([1], in: store)
      try store.apply { draft in used.forEach { draft.put([1], $0, in: 1) } }
      store = try session.reopen()
    }
    try given.reserve([100], in: store)
  }
}

/// The references that were given out to any thread.
private final class Given: Sendable {
  private let references = Guarded<Set<RowReference>>([])

  /// Lets a store give out these numbers of references, and checks them.
  @discardableResult
  func reserve(_ counts: [Int], in store: any RowStore) throws -> [RowReference] {
    try counts.flatMap { count in
      let new = try store.reserveReferences(count)
      try expect("The number of new references", new.count, is: count)
      for reference in new {
        let isNew = references.withLock { $0.insert(reference).inserted }
        try expect(isNew, "The reference \(reference) should be new, but was given out before.")
        try expect("The kind of the reference \(reference)", reference.kind, is: store.referenceKind)
      }
      return new
    }
  }
}

extension RowReference {
  fileprivate var kind: RowReferenceKind {
    switch self {
    case .integer: .integer
    case .string: .string
    case .uuid: .uuid
    }
  }
}
