import IncrementalStore

extension Promise {
  static let revisions = [savedRevisions]

  private static let savedRevisions = Promise(
    "Each save has a revision of its own, which its rows get, and which is higher than the earlier ones of these rows."
  ) { session in
    let reference = try session.store().referenceKind.reference
    let shared = (100..<103).map(reference)
    let seen = Guarded<Set<UInt64>>([])
    try session.run(savers: 4, rounds: 25) { store, thread, round in
      let row = shared[(thread + round) % shared.count]
      var earlier: [UInt64] = []
      let revision = try store.apply { draft, snapshot in
        earlier = try [row, reference(thread)].compactMap { try snapshot.row($0, in: 1)?.revision }
        if round % 3 == 0 || earlier.count < 2 {
          draft.put([UInt8(round)], row, in: 1)
        } else {
          draft.touch(row, in: 1)
        }
        draft.put([UInt8(round)], reference(thread), in: 1)
      }
      let isNew = seen.withLock { $0.insert(revision).inserted }
      try expect(isNew, "The revision of a save should be new, but \(revision) was given before.")
      for earlier in earlier {
        try expect(
          earlier < revision, "The revision of a row should rise, but is \(revision) after \(earlier).")
      }
      // Nobody else saves this row.
      let own = try store.snapshot().row(reference(thread), in: 1)
      try expect("The revision of a row that the save has put", own?.revision, is: revision)
    }
  }
}
