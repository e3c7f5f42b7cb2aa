import IncrementalStore

extension Promise {
  static let persistence = [keptContents]

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
}
