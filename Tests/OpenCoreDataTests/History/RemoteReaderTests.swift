import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process that reads a store to which another process saves.
@Suite(.timeLimit(.minutes(10))) struct RemoteReaderTests {
  private static var readOnly: [AnyHashable: Any] { [NSReadOnlyPersistentStoreOption: true] }
  private static var told: [AnyHashable: Any] {
    [NSReadOnlyPersistentStoreOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
  }

  @Test("A read-only store shows at each fetch, and in its history, what has been saved since it was added.")
  func fetches() throws {
    let store = TrackedStore(.cairn)
    let writer = try store.open()
    let first = try writer.make("Item", ["name": "first"])
    let reader = try store.open(Self.readOnly)
    let token = try #require(reader.token)
    let seen = reader.mirror(of: first)
    #expect(reader.performAndWait { seen.value(forKey: "name") as? String } == "first")
    try writer.change(first, ["name": "changed"])
    let second = try writer.make("Item", ["name": "second"])
    try writer.remove(second)
    let third = try writer.make("Item", ["name": "third"])

    // An object that is no fault keeps its values until the context merges.
    #expect(try reader.names() == ["first", "third"])
    #expect(reader.token == writer.token)
    let found: [NSPersistentHistoryTransaction] = try reader.history(.fetchHistory(after: token))
    #expect(found.count == 4)
    for transaction in found {
      reader.performAndWait { reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
    }
    #expect(reader.performAndWait { seen.value(forKey: "name") as? String } == "changed")
    try writer.remove(third)
    #expect(try reader.names() == ["changed"])
  }

  @Test("A context of a read-only store that is pinned shows the state to which it is pinned.")
  func pinned() throws {
    let store = TrackedStore(.cairn)
    let writer = try store.open()
    try writer.make("Item", ["name": "first"])
    let reader = try store.open(Self.readOnly)
    try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
    #expect(try reader.names() == ["first"])
    try writer.make("Item", ["name": "second"])
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = reader.persistentStoreCoordinator
    #expect(try other.names() == ["first", "second"])
    #expect(try reader.names() == ["first"])
    try reader.performAndWait { try reader.setQueryGenerationFrom(nil) }
    #expect(try reader.names() == ["first", "second"])
  }

  @Test("A read-only store of a process that saves itself tells of each save once.")
  func oneProcess() async throws {
    let store = TrackedStore(.cairn)
    let writer = try store.open()
    try writer.make("Item", ["name": "first"])
    let reader = try store.open(Self.told)
    let telling = Tokens(of: reader)
    for number in 0..<3 {
      try writer.make("Item", ["name": "\(number)"])
      #expect(try await telling.next() == writer.token)
    }
    #expect(try reader.names().count == 4)
  }

  @Test("A process that follows by history has what other processes have saved, which are killed.")
  func killedWriters() async throws {
    let store = TrackedStore(.cairn)
    try store.close(store.open().persistentStoreCoordinator)
    let reader = try store.open(Self.told)
    let telling = Tokens(of: reader)
    // Nothing has been recorded yet.
    var token = reader.token
    #expect(token == nil)
    var replica: [URL: String] = [:]
    for round in 1...3 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [url = store.url as URL, round = round as Int] in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TrackedStore.makeModel())
        CairnIncrementalStore.register()
        _ = try coordinator.addPersistentStore(
          type: .cairn, at: url, options: [NSPersistentHistoryTrackingKey: true, CairnDurabilityOption: "buffered"])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        for number in 0..<40 {
          let item = try context.make("Item", ["name": "\(round) \(number)"])
          if number.isMultiple(of: 3) { try context.remove(item) }
          if number % 5 == 1 { try context.change(item, ["name": "\(round) changed"]) }
        }
        kill(getpid(), SIGKILL)
      }
      // The last state is announced, however many states before it were not seen.
      let last = try #require(reader.token)
      var announced = try await telling.next()
      while announced != last { announced = try await telling.next() }
      token = try reader.follow(token, &replica)
      #expect(token == last)
    }
    let objects = try reader.performAndWait { () throws -> [URL: String] in
      let items = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      return Dictionary(
        uniqueKeysWithValues: items.map {
          ($0.objectID.uriRepresentation(), $0.value(forKey: "name") as? String ?? "")
        })
    }
    #expect(objects.count == 3 * 26)
    #expect(replica == objects)
    let writer = try store.open()
    #expect(writer.token == reader.token)
    try store.check()
  }
}

/// The tokens of the notifications about a context's stores.
private final class Tokens: @unchecked Sendable {
  private let stream: AsyncStream<NSPersistentHistoryToken?>
  private let observer: any NSObjectProtocol

  init(of context: NSManagedObjectContext) {
    let continuation: AsyncStream<NSPersistentHistoryToken?>.Continuation
    (stream, continuation) = AsyncStream.makeStream()
    observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: context.persistentStoreCoordinator, queue: nil
    ) { notification in
      continuation.yield(notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
    }
  }

  deinit { NotificationCenter.default.removeObserver(observer) }

  func next() async throws -> NSPersistentHistoryToken {
    let token = await stream.first { _ in true }
    return try #require(token ?? nil)
  }
}

extension NSManagedObjectContext {
  /// The names of all items, sorted.
  fileprivate func names() throws -> [String] {
    try performAndWait {
      try fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        .map { $0.value(forKey: "name") as? String ?? "" }.sorted()
    }
  }

  /// Brings a replica of all items up to date by the history after a token; returns the token after it.
  fileprivate func follow(
    _ token: NSPersistentHistoryToken?, _ replica: inout [URL: String]
  ) throws -> NSPersistentHistoryToken? {
    let transactions: [NSPersistentHistoryTransaction] = try history(.fetchHistory(after: token))
    var changed: Set<NSManagedObjectID> = []
    for change in transactions.flatMap({ $0.changes ?? [] }) {
      if change.changeType == .delete {
        replica[change.changedObjectID.uriRepresentation()] = nil
        changed.remove(change.changedObjectID)
      } else {
        changed.insert(change.changedObjectID)
      }
    }
    try performAndWait {
      reset()
      for id in changed {
        replica[id.uriRepresentation()] = try existingObject(with: id).value(forKey: "name") as? String
      }
    }
    return transactions.last?.token ?? token
  }
}
