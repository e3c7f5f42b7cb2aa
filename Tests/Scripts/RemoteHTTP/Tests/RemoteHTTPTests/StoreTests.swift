import CoreData
import Foundation
import HTTPTypes
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Synchronization
import Testing

/// A store whose service is a server.
struct StoreTests {
  @Test func aStoreReadsAndChangesTheObjectsOfAServer() async throws {
    let server = Server()
    try await withBackend { request, _ in
      try server.answer(request)
    } _: { backend async throws in
      let service = HTTPService(
        bugs(at: backend.url) {
          ($0.paging, $0.pageSizeParameter, $0.pageSize) = (.numbers(parameter: "page"), "size", 2)
          $0["Bug"].versionKey = "v"
          $0["Bug"].relationships = [:]
        })
      let directory = FileManager.default.temporaryDirectory.appending(path: "http-\(UUID().uuidString).cairn")
      defer { try? FileManager.default.removeItem(at: directory) }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      let description = NSPersistentStoreDescription.remote(at: directory, service)
      let store = try #require(
        try coordinator.addPersistentStore(
          type: NSPersistentStore.StoreType(rawValue: description.type), at: directory,
          options: description.options as [AnyHashable: Any]) as? RemoteIncrementalStore)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator

      let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      try await store.refresh(request)
      #expect(try await titles(context, request) == ["Crash", "Flicker", "Leak"])

      try await context.perform {
        let found = try context.fetch(request)
        found[0].setValue("Crash at night", forKey: "title")
        context.delete(found[1])
        NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context).setValue("New", forKey: "title")
        try context.save()
      }
      await store.sendChanges()
      #expect(try store.unsentChanges.isEmpty)
      #expect(server.titles == ["1": "Crash at night", "3": "Leak", "4": "New"])

      // Somebody else is faster.
      server.put("3", "Leak of memory")
      try await context.perform {
        let leak = try #require(try context.fetch(request).first { $0.value(forKey: "title") as? String == "Leak" })
        leak.setValue("Leak of file descriptors", forKey: "title")
        try context.save()
      }
      await store.sendChanges()
      #expect(try store.unsentChanges.isEmpty)
      #expect(server.titles["3"] == "Leak of memory")
      #expect(backend.received.last { $0.method == "PATCH" }?.header("If-Match") == "\"1\"")
      await context.perform { context.reset() }
      #expect(try await titles(context, request) == ["Crash at night", "Leak of memory", "New"])
      try coordinator.remove(store)
      await service.shutdown()
    }
  }

  private func titles(
    _ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>
  ) async throws -> [String] {
    try await context.perform { try context.fetch(request).compactMap { $0.value(forKey: "title") as? String } }
  }

  private static func model() -> NSManagedObjectModel {
    let (bug, title) = (NSEntityDescription(), NSAttributeDescription())
    (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
    (bug.name, bug.properties) = ("Bug", [title])
    let model = NSManagedObjectModel()
    model.entities = [bug]
    return model
  }
}

/// Bugs with versions.
private final class Server: Sendable {
  private let bugs = Mutex<[String: (title: String, version: Int)]>(
    ["1": ("Crash", 1), "2": ("Flicker", 1), "3": ("Leak", 1)])

  var titles: [String: String] { bugs.withLock { $0.mapValues(\.title) } }

  func put(_ identifier: String, _ title: String) {
    bugs.withLock { $0[identifier] = (title, ($0[identifier]?.version ?? 0) + 1) }
  }

  func answer(_ request: Received) throws -> Response {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count == 2 else { return try list(request) }
    let identifier = parts[1]
    guard let bug = bugs.withLock({ $0[identifier] }) else { return .empty(.notFound) }
    if let tag = request.header("If-Match"), tag != "\"\(bug.version)\"" {
      return .json(json(identifier), .preconditionFailed)
    }
    switch request.method {
    case "PATCH": put(identifier, try title(request))
    case "DELETE":
      bugs.withLock { $0[identifier] = nil }
      return .empty(.noContent)
    default: break
    }
    return .json(json(identifier))
  }

  private func list(_ request: Received) throws -> Response {
    guard request.method == "GET" else {
      put("4", try title(request))
      return .json(json("4"), .created)
    }
    let page = request.query.contains("page=2") ? 1 : request.query.contains("page=") ? 2 : 0
    let all = bugs.withLock { $0.keys.sorted() }.dropFirst(page * 2).prefix(2)
    return .json("[\(all.map(json).joined(separator: ","))]")
  }

  private func json(_ identifier: String) -> String {
    let bug = bugs.withLock { $0[identifier]! }
    return #"{"id": \#(identifier), "title": "\#(bug.title)", "v": \#(bug.version)}"#
  }

  private func title(_ request: Received) throws -> String {
    try JSONDecoder().decode([String: String].self, from: Data(request.body.utf8))["title"] ?? ""
  }
}
