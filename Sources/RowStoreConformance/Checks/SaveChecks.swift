import IncrementalStore

extension Promise {
  static let saves = [thrownErrors, emptySaves, previousSaves, wholeSaves, takenReferences]

  private static let thrownErrors = Promise(
    "If the closure of a save throws, the error comes through unchanged and nothing changes."
  ) { session in
    let store = try session.store()
    let reference = store.referenceKind.reference
    var model = Model()
    for round in 1...3 {
      try model.save(to: store) { draft in
        draft.put([UInt8(round)], reference(1), in: 1)
        draft.add([UInt8(round)])
      }
      let stopped = Stopped()
      try expectThrown(stopped, "The error of the closure") {
        _ = try store.save { snapshot in
          try model.check(snapshot)
          throw stopped
        }
      }
      try model.check(store.snapshot())
    }
  }

  private static let emptySaves = Promise("A save that changes nothing is allowed.") { session in
    let store = try session.store()
    let reference = store.referenceKind.reference(1)
    var model = Model()
    for round in 1...3 as ClosedRange<UInt8> {
      _ = try store.save { _ in RowChanges() }
      try model.check(store.snapshot())
      try model.save(to: store) { $0.put([round], reference, in: 1) }
      try model.save(to: store) { $0.add([round]) }
      try model.save(to: store) { $0.remove([round]) }
      try model.check(store.snapshot())
    }
  }

  private static let previousSaves = Promise("A save and a snapshot see all saves that were complete before.") {
    session in
    let reference = try session.store().referenceKind.reference(1)
    let complete = Guarded(0)
    @Sendable func number(_ snapshot: any RowSnapshot, atLeast least: Int, _ subject: String) throws -> Int {
      let number = Int(try snapshot.row(reference, in: 1)?.version ?? 0)
      try expect(number >= least, "\(subject) should see \(least) saves or more, but sees \(number).")
      return number
    }
    let saves = try session.run(savers: 3, rounds: 30, readers: 1) { store, _, _ in
      let before = complete.withLock { $0 }
      var last = 0
      try store.apply { draft, snapshot in
        last = try number(snapshot, atLeast: before, "A save")
        draft.put(Array("\(last + 1)".utf8), reference, in: 1)
      }
      complete.withLock { $0 = max($0, last + 1) }
      _ = try number(store.snapshot(), atLeast: last + 1, "A snapshot after a save")
    } read: { store in
      let before = complete.withLock { $0 }
      _ = try number(store.snapshot(), atLeast: before, "A snapshot")
    }
    _ = try number(session.store().snapshot(), atLeast: saves, "The last snapshot")
  }

  private static let wholeSaves = Promise(
    "Others see a save of many rows and entries as a whole or not at all, while several threads save."
  ) { session in
    let pattern = SavePattern(try session.store().referenceKind)
    let saves = try session.run(savers: 2, rounds: 30, readers: 2) { store, _, _ in
      _ = try pattern.save(to: store)
    } read: { store in
      _ = try pattern.number(in: store.snapshot())
    }
    let snapshot = try session.store().snapshot()
    try expect("The number of saves", pattern.number(in: snapshot), is: saves)
    try pattern.checkLog(snapshot)
  }

  private static let takenReferences = Promise(
    "If the database is remote, the closure of a save that inserts a row which exists is called again."
  ) { session in
    let store = try session.store()
    guard try store.snapshot().isRemote else { return }
    let reference = store.referenceKind.reference(1)
    var model = Model()
    try model.save(to: store) { $0.put([1], reference, in: 1) }
    var calls = 0
    _ = try store.save { snapshot in
      calls += 1
      guard calls == 1 else { return RowChanges() }
      var changes = RowChanges()
      changes.rows = [RowChanges.Row(table: 1, reference: reference, change: .put([2]), revision: nil)]
      return changes
    }
    try expect("The number of calls", calls, is: 2)
    try model.check(store.snapshot())
  }
}
