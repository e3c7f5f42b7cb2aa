import CairnInspection
import CairnSimulation
import CoreData
import Foundation
import RemoteIncrementalStore

/// A store over a simulated service, on a simulated machine.
final class CrashStore {
  let service: SimulatedService
  let machine: CrashMachine
  let store: RemoteIncrementalStore
  private let coordinator: NSPersistentStoreCoordinator

  init(_ files: MemoryFileLayer, _ service: SimulatedService, _ policy: RemoteConflictPolicy) throws {
    self.service = service
    machine = CrashMachine(files)
    (coordinator, store) = try addRemoteStore(
      at: CrashMachine.url, service.client(), policy: policy,
      [RemoteRowStoreOption: try machine.rowStore(), RemoteSendsByHandOption: true])
  }

  /// Closes the store, and checks its structure.
  func close() throws {
    try coordinator.remove(store)
    machine.scheduler.drain()
    let findings = try Verifier(at: CrashMachine.url.path, files: machine.files).run().findings.filter {
      $0.severity == .damage
    }
    guard findings.isEmpty else { throw TestFailure("the structure is wrong: \(findings)") }
  }

  // MARK: What an application does

  /// Runs a block with a new context.
  func perform<Value>(_ block: @escaping (NSManagedObjectContext) throws -> Value) async throws -> Value {
    let context = RemoteFixture.context(coordinator)
    return try await context.perform { try block(context) }
  }

  /// Changes objects, which have the keys of their tokens, and saves.
  func change(_ block: @escaping (NSManagedObjectContext, [String: NSManagedObject]) throws -> Void) async throws {
    try await perform { context in
      var objects: [String: NSManagedObject] = [:]
      for entity in ServiceState.entities {
        for object in try context.fetch(Self.request(entity)) {
          objects[object.value(forKey: "token") as? String ?? ""] = object
        }
      }
      try block(context, objects)
      try context.save()
    }
  }

  private static func request(_ entity: String) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.freshness = .cached
    return request
  }

  func refresh() async throws {
    for entity in ServiceState.entities { try await store.refresh(Self.request(entity)) }
    await store.waitUntilQuiet()
  }

  func send() async {
    await store.sendChanges()
    await store.waitUntilQuiet()
  }

  /// The identifiers of all objects that the store has.
  func identifiers() async throws -> [NSManagedObjectID] {
    try await perform { context in
      try ServiceState.entities.flatMap { try context.fetch(Self.request($0)).map(\.objectID) }
    }
  }

  func graph() async throws -> CrashGraph { try await perform { try $0.graph() } }

  // MARK: After a crash

  /// Sends and reads everything, and gives up what the service refuses, until there is nothing left to do.
  ///
  /// - Parameter refreshesFirst: Whether the lists are read before anything is sent.
  func settle(refreshesFirst: Bool) async throws {
    if refreshesFirst {
      // A list with objects that may be those that were sent and not answered is read after these are sent again.
      do { try await refresh() } catch RemoteFailure.unsettled {}
    }
    for _ in 0..<8 {
      await send()
      for change in try store.unsentChanges.reversed() {
        if case .refused = change.state { try store.discard(change) }
      }
      await store.waitUntilQuiet()
      try await refresh()
      try await store.load(identifiers())
      await store.waitUntilQuiet()
      if try store.unsentChanges.isEmpty { return }
    }
    throw TestFailure("there is no end of changes: \(try store.unsentChanges)")
  }
}
