import CairnSimulation
import CoreData
import Foundation
import RemoteIncrementalStore
import Synchronization

/// Runs one program, on a thread that may wait.
final class RemoteRunner {
  let program: RemoteProgram
  let service: SimulatedService
  let root = FileManager.default.temporaryDirectory.appending(path: "program \(UUID().uuidString)")
  var stores: [ProgramStore] = []
  private var random: SplitMix64
  private var serial = 0
  private let queue = DispatchQueue(label: "steps of a program")
  private(set) var tally: [String: Int] = [:]

  init(_ program: RemoteProgram) {
    self.program = program
    random = SplitMix64(seed: program.seed ^ 1)
    service = SimulatedService(program.options, seed: program.seed)
  }

  /// Runs a program. Returns what it did how often.
  static func run(_ program: RemoteProgram) throws -> [String: Int] {
    let runner = RemoteRunner(program)
    defer { runner.leave() }
    try runner.run()
    return runner.tally.merging(runner.service.tally) { $0 + $1 }
  }

  private func run() throws {
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    service.edit { state in
      let users = (0..<3).map { state.insert("User", ["name": .string("user \($0)")]) }
      let tags = (0..<3).map { state.insert("Tag", ["name": .string("tag \($0)")]) }
      for number in 0..<8 {
        state.insert(
          "Bug",
          [
            "title": .string("bug \(number)"), "state": .string(number % 2 == 0 ? "open" : "closed"),
            "priority": .integer(Int64(number)), "assignee": .object(users[number % 3]),
          ], tags: [tags[number % 3]])
      }
    }
    for index in 0..<program.storeCount {
      stores.append(try ProgramStore(index, service, program.policy, root: root))
    }
    for (number, step) in program.steps.enumerated() {
      do { try run(step) } catch { throw TestFailure("step \(number), \(step): \(error)") }
      try checkViolations()
    }
    try RemoteCheck(self).check()
    try checkViolations()
  }

  private func leave() {
    service.heal()
    for store in stores {
      for task in store.tasks { task.cancel() }
      wait(for: store.tasks)
      try? store.close()
    }
    try? FileManager.default.removeItem(at: root)
  }

  func checkViolations() throws {
    if let violation = service.edit({ $0.violations.first }) { throw TestFailure("the client did wrong: \(violation)") }
  }

  // MARK: Waiting

  /// Does what may wait for held requests, which go on in a random order while it does not return.
  func await<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Value, any Error>?>(nil)
    let task = Task.detached {
      do {
        let value = try await body()
        result.withLock { $0 = .success(value) }
      } catch { result.withLock { $0 = .failure(error) } }
      done.signal()
    }
    defer { _ = task }
    try pump(done)
    guard let result = result.withLock({ $0 }) else { throw TestFailure("no result") }
    return try result.get()
  }

  /// The same for what must not be done in a task.
  func perform<Value>(_ store: ProgramStore, _ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
    try perform(in: store.context, body)
  }

  func perform<Value>(
    in context: NSManagedObjectContext, _ body: (NSManagedObjectContext) throws -> Value
  ) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    var result: Result<Value, any Error>?
    try withoutActuallyEscaping(body) { body in
      let block = Unchecked { result = Result { try context.performAndWait { try body(context) } } }
      queue.async {
        block.value()
        done.signal()
      }
      defer {
        // Until the queue has let go of the block.
        queue.sync {}
      }
      try pump(done)
    }
    guard let result else { throw TestFailure("no result") }
    return try result.get()
  }

  private func pump(_ done: DispatchSemaphore) throws {
    var idle = 0
    while done.wait(timeout: .now() + .milliseconds(2)) == .timedOut {
      idle = service.gate.release(using: &random) ? 0 : idle + 1
      // Other tests may keep all threads of the concurrency pool for long.
      if idle == 150_000 { fatalError("a step of program \(program.seed) does not return") }
    }
  }

  private func wait(for tasks: [Task<Void, Never>]) {
    _ = try? self.await { for task in tasks { await task.value } }
  }

  func nextSerial() -> Int {
    serial += 1
    return serial
  }

  func count(_ what: String) { tally[what, default: 0] += 1 }

  // MARK: Steps

  private func run(_ step: RemoteStep) throws {
    switch step {
    case .act(let index, let action, let seed):
      var random = SplitMix64(seed: seed)
      tally["\(action)", default: 0] += 1
      try run(action, stores[index], &random)
    case .disturb(let seed):
      var random = SplitMix64(seed: seed)
      service.disturb(using: &random)
    case .release(let seed):
      var random = SplitMix64(seed: seed)
      service.gate.release(using: &random)
    case .deliverLate: service.deliverLate()
    case .faults(let faults): service.faults = faults
    }
  }

  private func run(_ action: RemoteStep.Action, _ store: ProgramStore, _ random: inout SplitMix64) throws {
    switch action {
    case .insert: try insert(store, &random)
    case .edit: try edit(store, &random)
    case .relate: try relate(store, &random)
    case .delete: try delete(store, &random)
    case .save: try save(store)
    case .fetch: try fetch(store, &random)
    case .refresh:
      let request = Self.request(&random)
      try tolerant(store, &random) { subject in try await subject.refresh(request.value) }
    case .load:
      let identifiers = try perform(store) { context in
        try Self.all(["Bug", "Tag", "User"].randomElement(using: &random) ?? "Bug", context).map(\.objectID)
          .filter { !$0.isTemporaryID }
      }
      let some = Array(identifiers.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)))
      try tolerant(store, &random) { subject in try await subject.load(some) }
    case .traverse: try traverse(store, &random)
    case .evict:
      let some = try perform(store) { context in
        try Self.all("Bug", context).map(\.objectID).filter { !$0.isTemporaryID && Bool.random(using: &random) }
      }
      try store.store.evict(some)
    case .send: try tolerant(store, &random) { subject in await subject.sendChanges() }
    case .readChanges: try tolerant(store, &random) { subject in try await subject.readChanges() }
    case .retry: for change in try setAside(store) { try retry(change, store) }
    case .discard: for change in try setAside(store) { try discard(change, store) }
    case .reopen:
      try settle(store)
      try store.reopen()
    case .kill:
      for task in store.tasks { task.cancel() }
      try store.kill()
      wait(for: store.tasks)
      store.tasks = []
    case .quieten: try quieten(store)
    case .verify: try checkWaiting(store)
    case .forget: store.forget()
    }
  }

  /// Starts a request of the application, and waits for it or not. It may fail because of the service.
  private func tolerant(
    _ store: ProgramStore, _ random: inout SplitMix64,
    _ body: @escaping @Sendable (RemoteIncrementalStore) async throws -> Void
  ) throws {
    let subject = store.store
    if Bool.random(using: &random) {
      store.tasks.append(Task.detached { try? await body(subject) })
      return
    }
    do { try self.await { try await body(subject) } } catch is RemoteFailure {} catch let error
      where Self.isRemote(error)
    {}
  }

  /// Whether an error says that the service has not answered.
  static func isRemote(_ error: any Error) -> Bool {
    (error as NSError).userInfo[NSUnderlyingErrorKey] is RemoteFailure
  }

  private func settle(_ store: ProgramStore) throws {
    for task in store.tasks { task.cancel() }
    wait(for: store.tasks)
    store.tasks = []
  }

  func quieten(_ store: ProgramStore) throws {
    let subject = store.store
    wait(for: store.tasks)
    store.tasks = []
    try self.await { await subject.waitUntilQuiet() }
  }
}

/// Passes what is not sendable to another thread, which has it alone.
struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
