import IncrementalStore

extension Promise {
  static let persistence = [keptContents, otherStores]

  private static let keptContents = Promise(
    "All rows and entries are there when the database is opened again, and later saves have new revisions.",
    needsPersistence: true
  ) { session in
    var program = RandomSaves(session.random(), try session.store().referenceKind)
    for _ in 1...6 {
      let store = try session.reopen()
      try program.model.check(store.snapshot())
      for _ in 1...6 { try program.save(to: store) }
    }
    try program.model.check(session.reopen().snapshot())
  }

  private static let otherStores = Promise(
    "A store goes on when other stores of the same database are closed.", needsSeveralStores: true
  ) { session in
    let store = try session.store()
    let snapshot = try store.heldSnapshot()
    var program = RandomSaves(session.random(), store.referenceKind)
    for _ in 1...4 {
      let other = try session.store()
      try program.save(to: other)
      try session.close(other)
      try program.model.check(store.snapshot())
      try program.save(to: store)
      _ = try store.reserveReferences(1)
    }
    try program.model.check(store.snapshot())
    try Model().check(snapshot)
  }
}
