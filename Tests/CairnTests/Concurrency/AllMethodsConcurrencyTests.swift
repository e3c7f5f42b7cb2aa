import Cairn
import CairnInspection
import CairnSimulation
import Foundation
import Synchronization
import Testing

/// Eight threads call all methods of a store at random, while the store is closed and opened again under them. Each
/// thread knows what it must find.
@Suite(.serialized) struct AllMethodsConcurrencyTests {
  private static let threads = 8

  @Test("G18: Every public method may be called from any thread, on a simulated machine.", .timeLimit(.minutes(60)))
  func simulated() async throws {
    let seed = chooseSeed()
    try await onThread {
      let machine = Machine(seed: seed)
      try Self.run(
        seed,
        World(path: Machine.path, files: machine.files) { path, options in
          try Store.open(at: path, options: options, environment: machine.environment(ThreadScheduler()))
        })
    }
  }

  @Test("G18: Every public method may be called from any thread, in a real directory.", .timeLimit(.minutes(60)))
  func directory() async throws {
    let seed = chooseSeed()
    try await onThread {
      try withTemporaryDirectory { directory in
        try Self.run(
          seed,
          World(path: "\(directory)/store", files: SystemFileLayer()) { path, options in
            try Store.open(at: path, options: options)
          })
      }
    }
  }

  private static func run(_ seed: UInt64, _ world: World) throws {
    // Every round is a hundred calls of each thread.
    let rounds = chooseRounds(20, debug: 2)
    let stage = try Stage(world)
    let done = Lock<[OwnRows]>([])
    let threads = Threads()
    for number in 0..<Self.threads {
      threads.start {
        var caller = Caller(number, seed, stage)
        do {
          for _ in 0..<100 * rounds where !stage.hasFailed.load(ordering: .relaxed) { try caller.call() }
          try caller.finish()
        } catch {
          stage.hasFailed.store(true, ordering: .relaxed)
          throw Mismatch("thread \(number), seed \(seed): \(error)")
        }
        done.withLock { $0.append(caller.own) }
      }
    }
    try threads.join()
    stage.endShared()

    let ownRows = done.withLock { $0 }
    let session = stage.session
    session.store.resumeCompaction()
    try session.store.setRetention(.newest, of: session.own[Stage.kept])
    for keyspace in session.store.keyspaces where keyspace.name.hasPrefix("temporary") {
      try session.store.drop(keyspace)
    }
    for own in ownRows { try own.check(session) }
    try session.store.close()
    #expect(session.store.statistics.snapshots == 0)
    #expect(session.store.statistics.olderVersions == 0)
    #expect(try Verifier(at: world.path, files: world.files).run().findings.isEmpty)

    let again = try Session(world)
    for own in ownRows { try own.check(again) }
    try again.store.read { try Bank.audit($0.rows(in: again.bank)) }
    for (order, keyspace) in zip(Stage.orders, again.own) {
      let expected = ownRows.reduce(0) { $0 + $1.count(in: order.name) }
      #expect(try again.store.read { try $0.count(in: keyspace) } == expected)
    }
    try again.store.close()
    let other = try world.open(world.otherPath, Machine.options)
    for own in ownRows { try own.checkOther(other) }
    try other.close()
    #expect(try Verifier(at: world.otherPath, files: world.files).run().findings.isEmpty)
  }
}

// MARK: What all threads have

struct World: Sendable {
  let path: String
  let files: any FileLayer
  let open: @Sendable (_ path: String, _ options: StoreOptions) throws -> Store

  var otherPath: String { "\(path)-other" }
  var backupPath: String { "\(path)-backup" }
}

/// A store from its opening to its closing.
final class Session: Sendable {
  let store: Store
  let own: [Keyspace]
  let bank: Keyspace
  /// Set before the store is closed.
  let isClosing = Atomic<Bool>(false)

  init(_ world: World) throws {
    var options = Machine.options
    options.recoveryProgress = { _ in
      // The store is locked now: waiting for it here would be waiting for itself.
      failure { _ = try world.open(world.path, Machine.options) }?.code == .locked
    }
    store = try world.open(world.path, options)
    own = try Stage.orders.map { [store] in try store.keyspace($0.name, order: $0.order) }
    bank = try store.keyspace("bank")
  }
}

/// The store that is open now, and the snapshots that are shared.
final class Stage: Sendable {
  static let orders: [(name: String, order: Keyspace.Order)] = [
    ("own", .ordered), ("heap", .unordered), ("kept", .ordered),
  ]
  static let kept = 2
  static let mostVersions = 4

  let world: World
  let hasFailed = Atomic<Bool>(false)
  let shared = Lock<[SharedSnapshot]>([])
  private let current: Lock<Session>
  private let reopening = Lock<Void>(())

  init(_ world: World) throws {
    self.world = world
    let session = try Session(world)
    try session.store.write { batch in
      for account in Bank.accounts { try batch.put(Bank.bytes(Bank.opening), at: account, in: session.bank) }
    }
    current = Lock(session)
  }

  var session: Session { current.withLock { $0 } }

  /// Closes the store and opens it again, unless another thread is doing that.
  func reopen() throws {
    try reopening.withLockIfAvailable { (_) throws in
      let session = session
      session.isClosing.store(true, ordering: .sequentiallyConsistent)
      try session.store.close()
      let next = try Session(world)
      current.withLock { $0 = next }
    }
  }

  /// Does nothing while another thread closes the store.
  func openDifferently() throws {
    try reopening.withLockIfAvailable { (_) throws in
      var options = Machine.options
      options.compresses = false
      let error = failure { _ = try world.open(world.path, options) }
      guard error?.code == .optionsMismatch else { throw Mismatch("opened with other options: \(error as Any)") }
    }
  }

  func endShared() {
    let all = shared.withLock { shared in
      defer { shared = [] }
      return shared
    }
    for snapshot in all { snapshot.end() }
  }
}

/// Runs blocking code on a thread of its own. The runtime has few threads, and the code waits for tasks that need one.
private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
