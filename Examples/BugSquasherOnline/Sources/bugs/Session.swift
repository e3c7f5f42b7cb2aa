import CoreData
import Foundation
import RemoteHTTP
import RemoteIncrementalStore

/// The open store of a command.
struct Session {
  let container: NSPersistentContainer
  let store: RemoteIncrementalStore
  /// Whether the server has answered the first request.
  private(set) var isOnline = false
  private let service: HTTPService

  /// Opens the store, gives it to a command, and closes it.
  static func run(
    _ bugs: Bugs, isOffline: Bool = false, _ command: (Session) async throws -> Void
  ) async throws {
    do {
      try await opened(bugs, isOffline, command)
    } catch let error as NSError where error.domain == NSCocoaErrorDomain {
      throw Failure(description: error.localizedDescription)
    }
  }

  private static func opened(
    _ bugs: Bugs, _ isOffline: Bool, _ command: (Session) async throws -> Void
  ) async throws {
    var session = try Session(at: URL(filePath: bugs.store, directoryHint: .isDirectory), bugs.serverURL)
    do {
      if !isOffline { session.isOnline = await session.catchUp() }
      try await command(session)
      try await session.close()
    } catch {
      try? await session.close()
      throw error
    }
  }

  private init(at url: URL, _ server: URL) throws {
    service = HTTPService(backend(at: server))
    guard let file = Bundle.module.url(forResource: "Bugs", withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: file)
    else { fatalError("There is no model.") }
    container = NSPersistentContainer(name: "Bugs", managedObjectModel: model)
    let description = NSPersistentStoreDescription.remote(at: url, service)
    // A command says itself when it sends.
    description.setOption(NSNumber(value: true), forKey: RemoteSendsByHandOption)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    guard let store = container.persistentStoreCoordinator.persistentStores.first as? RemoteIncrementalStore else {
      fatalError("The store has another type.")
    }
    self.store = store
  }

  /// How fresh what a command reads has to be.
  var freshness: RemoteFreshness { isOnline ? .waiting(ifOlderThan: 300, timeLimit: 10) : .cached }

  /// Reads what has changed at the server, before anything else: the first time, this is where changes begin to count.
  ///
  /// While a new bug was sent and not answered, nobody knows whether a bug that is new at the server is this one.
  func catchUp() async -> Bool {
    do {
      guard try !store.unsentChanges.contains(where: { $0.kind == .insert && $0.state == .sent }) else {
        note("A bug was sent, and the answer is missing: 'bugs sync' asks again. This is what is known here.")
        return false
      }
      try await store.readChanges()
      return true
    } catch {
      note("\(error). This is what is known here.")
      return false
    }
  }

  /// Closes the store, and with it all streams of events.
  func close() async throws {
    let coordinator = container.persistentStoreCoordinator
    if coordinator.persistentStores.contains(store) { try coordinator.remove(store) }
    await service.shutdown()
  }
}
