import Cairn

/// Does things in the middle of other work: ends snapshots at any call, and writes, drops keyspaces and creates
/// keyspaces at those moments of maintenance when another thread could hold the commit lock. Everything runs on one
/// thread, so that it happens the same way each time.
final class Meantime: Sendable {
  struct Held: Sendable {
    let snapshot: Snapshot
    let rows: Model.Rows
    let keyspaces: [Keyspace?]
  }

  /// The work in progress.
  enum Work: Sendable {
    case nothing
    /// A write, or other work during which nobody else can write.
    case exclusive
    /// A checkpoint. It never holds the commit lock when it makes a call on its own file.
    case checkpoint
    /// A compaction. After its first report of progress, it does not hold the commit lock when it writes or syncs a
    /// segment or a checkpoint. Before, it makes a checkpoint or holds the commit lock.
    case compaction(hasBegun: Bool)
  }

  /// The store that deeds write to, and the state that they change.
  struct Scene: Sendable {
    let store: Store
    let files: MemoryFileLayer
    var model: Model
    var keyspaces: [Keyspace?]
    var isPoisoned = false
    var failure: Failure?
  }

  private struct State: Sendable {
    var work = Work.nothing
    var armed: [(deed: Deed, after: Int)] = []
    var held: [Held] = []
    var scene: Scene?
    /// A deed is being done; no deed becomes due at the calls that it makes.
    var isBusy = false
    var done = 0
    var ended = 0
  }

  private let oracles: Oracles
  private let watch: Watch
  private let state = Lock(State())

  init(_ oracles: Oracles, _ watch: Watch) {
    self.oracles = oracles
    self.watch = watch
  }

  // MARK: Snapshots

  var held: [Held] { state.withLock { $0.held } }

  func hold(_ held: Held) { state.withLock { if $0.held.count < 6 { $0.held.append(held) } } }

  /// Ends a snapshot. Numbers from 0 up count from the oldest, from -1 down from the newest, modulo the number of
  /// snapshots.
  func release(_ number: Int) {
    let held: Held? = state.withLock { state in
      let count = state.held.count
      return count == 0 ? nil : state.held.remove(at: (number % count + count) % count)
    }
    held?.snapshot.close()
  }

  /// Disarms all deeds and ends all snapshots.
  func clear() {
    let held = state.withLock { state in
      state.armed = []
      defer { state.held = [] }
      return state.held
    }
    for held in held { held.snapshot.close() }
  }

  // MARK: Deeds

  func arm(_ deed: Deed, after count: Int) { state.withLock { $0.armed.append((deed, count)) } }

  /// The number of deeds done since the last call, and how many of them ended a snapshot. Resets both.
  func takeCounts() -> (done: Int, ended: Int) {
    state.withLock { state in
      defer { (state.done, state.ended) = (0, 0) }
      return (state.done, state.ended)
    }
  }

  /// Runs a piece of work, with the deeds that become due in the middle of it.
  func during<R, E>(_ work: Work, _ body: () throws(E) -> R) throws(E) -> R {
    state.withLock { $0.work = work }
    defer { state.withLock { $0.work = .nothing } }
    return try body()
  }

  /// The same, for work during which others may write.
  func during<R, E>(_ work: Work, _ scene: inout Scene, _ body: () throws(E) -> R) throws(E) -> R {
    state.withLock { [scene] in $0.scene = scene }
    defer {
      if let after = state.withLock({ $0.scene.take() }) { scene = after }
    }
    return try during(work, body)
  }

  /// Called between two pieces of work.
  func pass() { moment(mayWrite: true) }

  /// Called when compaction reports progress. It then holds the lock of maintenance, but not the commit lock.
  func reported() {
    moment(mayWrite: false)
    state.withLock { if case .compaction = $0.work { $0.work = .compaction(hasBegun: true) } }
  }

  func called(_ operation: MemoryFileLayer.Operation, _ path: String) {
    let mayWrite = state.withLock { state -> Bool? in
      switch state.work {
      case .nothing: return nil
      case .exclusive: return false
      case .checkpoint: return path.hasSuffix(".checkpoint")
      case .compaction(hasBegun: false): return nil
      case .compaction:
        return (path.hasSuffix(".checkpoint") || path.hasSuffix(".segment"))
          && (operation == .write || operation == .sync)
      }
    }
    guard let mayWrite else { return }
    moment(mayWrite: mayWrite)
  }

  private func moment(mayWrite: Bool) {
    let due = state.withLock { state -> [Deed] in
      if case .nothing = state.work, state.scene == nil { return [] }
      guard !state.isBusy, !state.armed.isEmpty else { return [] }
      let canWrite = mayWrite && state.scene.map { !$0.isPoisoned && $0.failure == nil } ?? false
      var due: [Deed] = []
      var rest: [(deed: Deed, after: Int)] = []
      for (deed, after) in state.armed {
        switch deed {
        case .release: break
        case .snapshot, .ask, .write, .drop:
          guard canWrite else {
            rest.append((deed, after))
            continue
          }
        }
        if after == 0 { due.append(deed) } else { rest.append((deed, after - 1)) }
      }
      state.armed = rest
      state.isBusy = !due.isEmpty
      return due
    }
    guard !due.isEmpty else { return }
    for deed in due { perform(deed) }
    state.withLock { $0.isBusy = false }
  }

  private func perform(_ deed: Deed) {
    watch.note("  amid: \(deed)")
    state.withLock { $0.done += 1 }
    if case .release(let number) = deed {
      state.withLock { $0.ended += 1 }
      return release(number)
    }
    guard var scene = state.withLock({ $0.scene }) else { return }
    do throws(any Error) {
      try perform(deed, &scene)
    } catch let failure as Failure {
      scene.failure = failure.at("amid: \(deed)")
    } catch {
      scene.failure = Failure(.errors, "\(error)").at("amid: \(deed)")
    }
    state.withLock { [scene] in $0.scene = scene }
  }

  private func perform(_ deed: Deed, _ scene: inout Scene) throws {
    switch deed {
    case .release: break
    case .snapshot:
      hold(Held(snapshot: scene.store.snapshot(), rows: scene.model.rows, keyspaces: scene.keyspaces))
    case .ask(let number): scene.keyspaces[number] = try oracles.keyspace(number, scene.store)
    case .write(let changes):
      guard scene.model.conflicts(changes) == 0, let next = scene.model.after(changes) else { return }
      for change in changes { try ask(change.keyspace, &scene) }
      try commit(next, &scene) { scene in
        try oracles.put(changes, .buffered, scene.model, scene.store, scene.keyspaces)
      }
    case .drop(let number):
      guard let keyspace = scene.keyspaces[number], scene.store.keyspaces.contains(keyspace) else { return }
      try commit(scene.model.withoutRows(of: number), &scene) { scene in try scene.store.drop(keyspace, .buffered) }
      if !scene.isPoisoned { scene.keyspaces[number] = nil }
      if number < Keys.keyspaces { try ask(number, &scene) }
    }
  }

  private func ask(_ number: Int, _ scene: inout Scene) throws {
    if scene.keyspaces[number] == nil { scene.keyspaces[number] = try oracles.keyspace(number, scene.store) }
  }

  private func commit(
    _ next: Model.Rows, _ scene: inout Scene, _ body: (inout Scene) throws -> CommitSequence
  ) throws {
    let before = scene.store.lastSequence
    scene.model.mayWrite()
    var possible = scene.model
    possible.possible = next
    watch.follow(scene.files, possible, floor: possible.floor, store: scene.store)
    do throws(any Error) {
      scene.model.committed(next, try body(&scene))
    } catch let error as StoreError {
      let isExcused = scene.files.struck > 0 && error.code != .conflict && error.code != .corrupted
      try require(isExcused, .errors, "\(error)")
      if scene.store.lastSequence > before {
        scene.model.committed(next, scene.store.lastSequence)
      } else if error.code == .poisoned {
        scene.model.possible = next
      }
      scene.isPoisoned = scene.store.isPoisoned
    }
    watch.follow(scene.files, scene.model, floor: scene.model.floor, store: scene.store)
  }
}
