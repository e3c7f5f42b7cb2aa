import IncrementalStore

extension Promise {
  static let snapshots = [heldSnapshots, readSnapshots, states]

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

  private static let states = Promise("A snapshot of other contents has another state, if it has one.") { session in
    let store = try session.store()
    let other = try session.store()
    let reference = store.referenceKind.reference(1)
    var known: Set<UInt64> = []
    for step in 0..<10 as Range<UInt8> {
      try (step % 2 == 0 ? store : other).apply { $0.put([step], reference, in: 1) }
      guard let state = try store.snapshot().state else { continue }
      try expect(known.insert(state).inserted, "A snapshot has the state of an earlier one with other contents.")
    }
  }
}
