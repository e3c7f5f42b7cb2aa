import Cairn

/// Checkpoints, compaction and background work, with the deeds in the middle of them.
extension Runner {
  mutating func checkpoint() throws {
    guard let store else { return }
    try maintain(.checkpoint, store) { () throws(StoreError) in try store.checkpoint() }
  }

  mutating func compact(_ extent: CompactionExtent) throws {
    guard let store else { return }
    try maintain(.compaction(hasBegun: false), store) { [meantime] () throws(StoreError) in
      try store.compact(extent) { _ in
        meantime.reported()
        return true
      }
    }
  }

  /// Runs maintenance, with the deeds that become due in the middle of it.
  private mutating func maintain(
    _ work: Meantime.Work, _ store: Store, _ body: () throws(StoreError) -> Void
  ) throws {
    model.mayWrite()
    follow()
    var error: StoreError?
    try beside(work, store) { do throws(StoreError) { try body() } catch let caught { error = caught } }
    if let error { try excuse(error) }
  }

  /// Lets others write while the work runs, but not if space may be lacking: a writer that finds no space would wait
  /// until the work is done.
  private mutating func beside(_ work: Meantime.Work, _ store: Store, _ body: () -> Void) throws {
    if mayLackSpace || isPoisoned { return meantime.during(.exclusive, body) }
    let known = model.last
    var scene = Meantime.Scene(store: store, files: machine.files, model: model, keyspaces: keyspaces)
    meantime.during(work, &scene, body)
    model = scene.model
    keyspaces = scene.keyspaces
    if scene.isPoisoned { isPoisoned = true }
    oracles.tally.commits += model.last > known ? 1 : 0
    if let failure = scene.failure { throw failure }
  }

  /// Runs `count` pieces of background work, each of which may commit a dictionary.
  mutating func background(_ count: Int) throws {
    for _ in 0..<count {
      if let store, !isPoisoned { try beside(.nothing, store) { [meantime] in meantime.pass() } }
      model.mayWrite()
      if !isPoisoned { follow(model.rows) }
      let scheduler = machine.scheduler
      var isDone = false
      if let store {
        try beside(.checkpoint, store) { isDone = !scheduler.runOne() }
      } else {
        isDone = !scheduler.runOne()
      }
      guard !isDone else { return }
      guard let store, !isPoisoned else { continue }
      if store.lastSequence > model.last {
        model.committed(model.rows, store.lastSequence)
        ownCommits += 1
        oracles.tally.dictionaries += 1
      } else if store.isPoisoned {
        isPoisoned = true
        model.possible = model.rows
      }
    }
  }
}
