import CoreData
import Foundation
import RemoteIncrementalStore
import Synchronization
import Testing

/// A store over a simulated service, with a context.
final class RemoteFixture: @unchecked Sendable {
  let service: SimulatedService
  let policy: RemoteConflictPolicy
  private let sendsByHand: Bool
  let url = FileManager.default.temporaryDirectory.appending(path: "remote \(UUID().uuidString)")
  private(set) var coordinator: NSPersistentStoreCoordinator
  private(set) var store: RemoteIncrementalStore
  private(set) var context: NSManagedObjectContext

  /// - Parameter sendsByHand: Whether only ``send()`` sends changes.
  init(
    _ options: ServiceOptions = ServiceOptions(), policy: RemoteConflictPolicy = .serviceWins, sendsByHand: Bool = false
  ) throws {
    service = SimulatedService(options)
    (self.policy, self.sendsByHand) = (policy, sendsByHand)
    (coordinator, store) = try Self.open(url, service, policy, sendsByHand)
    context = Self.context(coordinator)
  }

  private static func open(
    _ url: URL, _ service: SimulatedService, _ policy: RemoteConflictPolicy, _ sendsByHand: Bool
  ) throws -> (NSPersistentStoreCoordinator, RemoteIncrementalStore) {
    try addRemoteStore(at: url, service.client(), policy: policy, [RemoteSendsByHandOption: sendsByHand])
  }

  deinit {
    service.heal()
    try? coordinator.remove(store)
    try? FileManager.default.removeItem(at: url)
  }

  static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Closes the store, lets something happen, and opens it again.
  func reopen(_ meanwhile: () throws -> Void = {}) throws {
    try coordinator.remove(store)
    try meanwhile()
    (coordinator, store) = try Self.open(url, service, policy, sendsByHand)
    context = Self.context(coordinator)
  }

  /// Forgets the objects of the context.
  func forget() { context = Self.context(coordinator) }

  /// Runs a block on the context's queue, where it may wait.
  func perform<Value>(_ block: @escaping (NSManagedObjectContext) throws -> Value) async throws -> Value {
    let context = context
    return try await context.perform { try block(context) }
  }

  /// Makes objects at the service.
  @discardableResult
  func bugs(_ titles: String...) -> [RemoteIdentifier] {
    service.edit { state in titles.map { state.insert("Bug", ["title": .string($0), "state": .string("open")]) } }
  }

  func refresh(_ entity: String = "Bug") async throws {
    try await store.refresh(NSFetchRequest<NSManagedObject>(entityName: entity))
  }

  /// The titles of the bugs that the store has.
  func titles(_ freshness: RemoteFreshness = .cached) async throws -> [String] {
    try await perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.freshness = freshness
      return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }.sorted()
    }
  }

  /// The identifiers of the objects that the store has, without asking the service.
  func identifiers(_ entity: String = "Bug") async throws -> [NSManagedObjectID] {
    try await perform { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.freshness = .cached
      return try context.fetch(request).map(\.objectID)
    }
  }

  /// Makes an object and saves it.
  @discardableResult
  func insert(_ title: String) async throws -> NSManagedObjectID {
    try await perform { context in
      let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
      bug.setValue(title, forKey: "title")
      bug.setValue("token of \(title)", forKey: "token")
      try context.save()
      return bug.objectID
    }
  }

  /// Changes an object and saves it.
  func set(_ name: String, _ value: any Sendable, of id: NSManagedObjectID) async throws {
    try await perform { context in
      try context.existingObject(with: id).setValue(value, forKey: name)
      try context.save()
    }
  }

  func delete(_ id: NSManagedObjectID) async throws {
    try await perform { context in
      context.delete(try context.existingObject(with: id))
      try context.save()
    }
  }

  func value(_ name: String, of id: NSManagedObjectID) async throws -> String? {
    try await perform { context in try context.existingObject(with: id).value(forKey: name) as? String }
  }

  /// Sends everything that can be sent.
  func send() async {
    await store.sendChanges()
    await store.waitUntilQuiet()
  }

  /// No request reaches the service until the fixture's service is healed or intercepted again.
  func disconnect() { service.intercept { _, _ in throw RemoteFailure.unreachable("no network") } }

  func connect() { service.intercept(nil) }

  /// The changes that the service has got, in their order.
  var sent: [RemoteChange] { service.requests.flatMap(\.changes) }

  var unsent: [RemoteUnsentChange] { get throws { try store.unsentChanges } }
}

/// Runs a block on a thread of its own, which may wait.
func onThread<Value>(_ block: sending @escaping () throws -> sending Value) async throws -> Value {
  let block = Unchecked(block)
  let result: Unchecked<Result<Value, any Error>> = await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: Unchecked(Result { try block.value() })) }.start()
  }
  return try result.value.get()
}

/// Runs a block on the main queue, as an application with an interface would.
func onMainQueue<Value>(_ block: sending @escaping () throws -> sending Value) async throws -> Value {
  let block = Unchecked(block)
  let result: Unchecked<Result<Value, any Error>> = await withCheckedContinuation { continuation in
    DispatchQueue.main.async { continuation.resume(returning: Unchecked(Result { try block.value() })) }
  }
  return try result.value.get()
}
