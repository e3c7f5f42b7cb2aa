import IncrementalStore

extension Promise {
  static let snapshots = [heldSnapshots, readSnapshots]

  private static let heldSnapshots = Promise("A snapshot does not change, whatever is saved later.") { session in
    let store = try session.store()
    let other = try session.store()
    var program = RandomSaves(session.random(), store.referenceKind)
    var held: [(snapshot: any RowSnapshot, model: Model)] = []
    // A store that does not keep snapshots has them for the length of a request.
    let mostHeld = store.keepsSnapshots ? 10 : 2
    for step in 0..<40 {
      try program.save(to: step % 2 == 0 ? store : other)
      if step % 4 == 0 {
        if held.count == mostHeld { held.removeFirst() }
        held.append((try store.heldSnapshot(), program.model))
      }
      if step % 10 == 5, let (snapshot, model) = held.last { try model.check(snapshot) }
    }
    for (snapshot, model) in held { try model.check(snapshot) }
  }

  private static let readSnapshots = Promise("A snapshot does not change while it is being read and others save.") {
    session in
    let pattern = SavePattern(try session.store().referenceKind)
    try session.run(savers: 2, rounds: 30, readers: 2) { store, _, _ in
      _ = try pattern.save(to: store)
    } read: { store in
      let snapshot = try store.snapshot()
      let number = try pattern.number(in: snapshot)
      for _ in 1...3 { try expect("The save that a snapshot sees", pattern.number(in: snapshot), is: number) }
    }
  }
}
