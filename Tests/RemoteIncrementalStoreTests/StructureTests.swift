import CairnIncrementalStore
import CairnInspection
import CoreData
import Foundation
import RemoteIncrementalStore
import Synchronization
import Testing

/// What is in the rows of a store over a service is what STORE-FORMAT.md says.
@Suite("Structure of a store over a remote service")
struct StructureTests {
  private let shelf = Shelf()
  private var service: NoteService { shelf.service }

  /// Makes five notes and five photos at the service, each with a tag, in one folder.
  private func fill() {
    let folder = service.insert("Folder", ["name": .string("f")])
    for number in 0..<10 {
      let tag = service.insert("Tag", ["name": .string("t\(number)")])
      let values: [String: RemoteValue] = ["title": .string("n\(number)"), "folder": .object(folder)]
      service.insert(number % 2 == 0 ? "Note" : "Photo", values, tags: [tag])
    }
  }

  @Test("A store is sound whose objects were read, loaded, evicted and deleted at the service.")
  func reading() async throws {
    fill()
    try await shelf.work { store, context in
      for entity in ["Note", "Tag", "Folder"] { try await store.refresh(Shelf.request(entity)) }
      let notes = try await context.objectIDs("Note")
      #expect(notes.count == 10)
      try store.setPinned(true, Array(notes.prefix(1)))
    }
    try await shelf.work { store, context in
      let notes = try await context.objectIDs("Note")
      // Of photos only the identifiers were listed, and one note is pinned.
      #expect(try store.evict(notes).count == 4)
      try await store.load(Array(notes.suffix(3)))
    }
    for title in ["n1", "n4"] { service.delete(titled: title) }
    try await shelf.work { store, context in
      try await store.refresh(Shelf.request("Note"))
      #expect(try await context.objectIDs("Note").count == 8)
    }
  }

  @Test("A store is sound with changes that were accepted, refused, kept back and discarded.")
  func sending() async throws {
    fill()
    try await shelf.work { store, context in
      for entity in ["Note", "Tag", "Folder"] { try await store.refresh(Shelf.request(entity)) }
      try await context.change { notes in
        notes["n0"]?.setValue("new", forKey: "title")
        notes["n1"]?.setValue(NSSet(), forKey: "tags")
        notes["n2"]?.setValue("forbidden", forKey: "title")
        notes["n3"].map(context.delete)
        Shelf.insert("Note", "accepted", context)
        Shelf.insert("Photo", "forbidden", context)
      }
      await store.sendChanges()
      #expect(try store.unsentChanges.map(\.state) == [.refused("no"), .refused("no")])
    }
    service.isReachable = false
    try await shelf.work { store, context in
      try await context.change { notes in
        notes["accepted"].map(context.delete)
        notes["n5"]?.setValue("first", forKey: "title")
        let photo = Shelf.insert("Photo", "kept back", context)
        photo.setValue(NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context), forKey: "folder")
        notes["n6"]?.setValue(photo.value(forKey: "folder"), forKey: "folder")
        notes["n7"]?.setValue(notes["n8"]?.value(forKey: "tags"), forKey: "tags")
      }
      await store.sendChanges()
      try await context.change { notes in
        notes["first"].map(context.delete)
        notes["kept back"].map(context.delete)
      }
      #expect(try store.unsentChanges.contains { $0.kind == .delete })
    }
    service.isReachable = true
    try await shelf.work { store, context in
      await store.sendChanges()
      try await store.refresh(Shelf.request("Note"))
    }
    try await shelf.work { store, _ in
      for change in try store.unsentChanges { try store.discard(change) }
      #expect(try store.unsentChanges.isEmpty)
    }
  }

  @Test("A store is sound after an answer that brings an object and deletes it, and one that brings it again.")
  func briefObject() async throws {
    let record = RemoteRecord(RemoteIdentifier("Tag", "77"), tag: "v1", values: ["name": .string("brief")])
    try await shelf.work { store, _ in try await store.take([record], deleted: [record.identifier]) }
    try await shelf.work { store, context in
      for _ in 0..<2 { try await store.take([record]) }
      #expect(try await context.objectIDs("Tag").count == 1)
    }
  }

  @Test("A store is sound whose lists were forgotten, and reads them again.") func forgottenLists() async throws {
    fill()
    for request in [Shelf.request("Tag"), Shelf.request("Tag", limit: 3)] {
      try await shelf.work { store, _ in try await store.refresh(request) }
    }
    try await shelf.work { store, context in
      #expect(try store.status(of: Shelf.request("Tag")).readAt != nil)
      try store.evict(readBefore: .distantFuture)
      #expect(try store.status(of: Shelf.request("Tag")).readAt == nil)
      #expect(try await context.objectIDs("Tag").count == 10)
      try await store.refresh(Shelf.request("Tag"))
      #expect(try await context.objectIDs("Tag").count == 10)
    }
  }

  @Test("A store is sound whose lists were read in part.") func parts() async throws {
    fill()
    let some = Shelf.request("Tag", limit: 3)
    for request in [some, Shelf.request("Tag"), some] {
      try await shelf.work { store, _ in try await store.refresh(request) }
    }
    try await shelf.work { store, _ in try await store.refresh(some) }
  }

  @Test("A store is sound after a migration that removes an entity of which objects are known.")
  func removedEntity() async throws {
    fill()
    try await shelf.work { store, context in
      for entity in ["Note", "Tag"] { try await store.refresh(Shelf.request(entity)) }
      try await context.perform {
        for tag in try context.fetch(Shelf.request("Tag")).prefix(2) { tag.setValue("forbidden", forKey: "name") }
        try context.save()
      }
      await store.sendChanges()
      #expect(try store.unsentChanges.count == 2)
    }
    try await shelf.work(hasTags: false) { store, context in
      try await store.refresh(Shelf.request("Note"))
      #expect(try await context.objectIDs("Note").count == 10)
    }
  }
}

extension NSManagedObjectContext {
  /// The identifiers of the objects that the store has.
  fileprivate func objectIDs(_ entity: String) async throws -> [NSManagedObjectID] {
    try await perform { try self.fetch(Shelf.request(entity)).map(\.objectID) }
  }

  /// Changes notes, which have the keys of their titles, and saves.
  fileprivate func change(_ body: @escaping ([String: NSManagedObject]) throws -> Void) async throws {
    try await perform {
      let notes = try self.fetch(Shelf.request("Note"))
      try body(Dictionary(notes.map { ($0.value(forKey: "title") as? String ?? "", $0) }) { first, _ in first })
      try self.save()
    }
  }
}

/// A store over a service of notes. Its structure is verified after each use.
private final class Shelf: Sendable {
  let service = NoteService()
  private let url = FileManager.default.temporaryDirectory.appending(path: "structure \(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }

  func work(
    hasTags: Bool = true, _ location: SourceLocation = #_sourceLocation,
    _ body: (RemoteIncrementalStore, NSManagedObjectContext) async throws -> Void
  ) async throws {
    let description = NSPersistentStoreDescription.remote(at: url, service)
    var options = description.options as [AnyHashable: Any]
    options[CairnDurabilityOption] = "buffered"
    options[RemoteSendsByHandOption] = true
    options[NSMigratePersistentStoresAutomaticallyOption] = true
    options[NSInferMappingModelAutomaticallyOption] = true
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(hasTags: hasTags))
    let store = try #require(
      try coordinator.addPersistentStore(type: .remote, at: url, options: options) as? RemoteIncrementalStore)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try await body(store, context)
    await store.waitUntilQuiet()
    try coordinator.remove(store)
    let findings = try Verifier(at: url.path).run().findings.map { "\($0)" }
    #expect(findings == [], sourceLocation: location)
  }

  static func request(_ entity: String, limit: Int = 0) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    (request.freshness, request.fetchLimit) = (.cached, limit)
    return request
  }

  @discardableResult
  static func insert(_ entity: String, _ title: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    let note = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    note.setValue(title, forKey: "title")
    return note
  }

  private static func model(hasTags: Bool) -> NSManagedObjectModel {
    let note = entity("Note", ["title": .stringAttributeType])
    let photo = entity("Photo", ["size": .integer64AttributeType])
    let folder = entity("Folder", ["name": .stringAttributeType])
    let tag = entity("Tag", ["name": .stringAttributeType])
    note.subentities = [photo]
    relate(note, "folder", isToMany: false, folder, "notes")
    if hasTags { relate(note, "tags", isToMany: true, tag, "notes") }
    let model = NSManagedObjectModel()
    model.entities = [note, photo, folder] + (hasTags ? [tag] : [])
    return model
  }

  private static func entity(_ name: String, _ attributes: [String: NSAttributeType]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
    return entity
  }

  private static func relate(
    _ one: NSEntityDescription, _ name: String, isToMany: Bool, _ other: NSEntityDescription, _ inverse: String
  ) {
    let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    (there.name, there.destinationEntity, there.maxCount) = (name, other, isToMany ? 0 : 1)
    (back.name, back.destinationEntity, back.maxCount) = (inverse, one, 0)
    for relationship in [there, back] {
      (relationship.isOptional, relationship.deleteRule) = (true, .nullifyDeleteRule)
    }
    (there.inverseRelationship, back.inverseRelationship) = (back, there)
    one.properties.append(there)
    other.properties.append(back)
  }
}

/// A service of notes, photos, folders and tags, which refuses `forbidden` titles and names. Lists of notes have photos
/// as well, of which they tell the identifiers only.
private final class NoteService: RemoteService {
  private struct State {
    var records: [RemoteIdentifier: RemoteRecord] = [:]
    var last = 0
    var isReachable = true

    mutating func put(_ record: RemoteRecord) -> RemoteRecord {
      last += 1
      var record = record
      record.tag = "\(last)"
      records[record.identifier] = record
      return record
    }
  }

  private let state = Mutex(State())

  var isReachable: Bool {
    get { state.withLock(\.isReachable) }
    set { state.withLock { $0.isReachable = newValue } }
  }

  @discardableResult
  func insert(_ entity: String, _ values: [String: RemoteValue], tags: [RemoteIdentifier] = []) -> RemoteIdentifier {
    state.withLock { state in
      let record = RemoteRecord(
        RemoteIdentifier(entity, "\(state.last)"), values: values, members: ["tags": .all(tags)])
      return state.put(record).identifier
    }
  }

  func delete(titled title: String) {
    state.withLock { state in state.records = state.records.filter { $1.values["title"] != .string(title) } }
  }

  private func answer<Answer: Sendable>(_ body: (inout State) throws -> Answer) throws -> Answer {
    try state.withLock { state in
      guard state.isReachable else { throw RemoteFailure.unreachable("no network") }
      return try body(&state)
    }
  }

  // MARK: Requests

  let repeating = RemoteRepeating.keys
  let changesPerRequest = 2

  func query(for fetch: RemoteFetch) -> RemoteQuery? { RemoteQuery(fetch.entityName, isExhaustive: true) }

  func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) throws -> RemotePage {
    try answer { state in
      let names = query.name == "Note" ? ["Note", "Photo"] : [query.name]
      let records = state.records.values.filter { names.contains($0.identifier.entityName) }
        .sorted { $0.identifier.value < $1.identifier.value }
      let start = cursor.flatMap { Int($0) } ?? 0
      let page = records.dropFirst(start).prefix(2).map { record in
        record.identifier.entityName == "Photo" ? RemoteRecord(record.identifier) : record
      }
      return RemotePage(page, next: start + 2 < records.count ? "\(start + 2)" : nil)
    }
  }

  func records(_ wanted: [RemoteReference]) throws -> RemoteRecords {
    try answer { state in
      RemoteRecords(
        wanted.compactMap { state.records[$0.identifier] },
        gone: wanted.map(\.identifier).filter { state.records[$0] == nil })
    }
  }

  func send(_ changes: [RemoteChange]) throws -> [RemoteOutcome] {
    try answer { state in
      changes.map { change in
        guard change.values["title"] != .string("forbidden"), change.values["name"] != .string("forbidden") else {
          return .refused("no")
        }
        if change.kind == .delete, let identifier = change.identifier {
          return state.records.removeValue(forKey: identifier) == nil ? .gone : .accepted(nil)
        }
        let identifier = change.identifier ?? RemoteIdentifier(change.entityName, "\(state.last)")
        var record = state.records[identifier] ?? RemoteRecord(identifier, members: ["tags": .all([])])
        record.values.merge(change.values) { $1 }
        let removed = Set(change.removed["tags"] ?? [])
        let tags = record.members["tags"]?.identifiers.filter { !removed.contains($0) } ?? []
        record.members["tags"] = .all(tags + (change.added["tags"] ?? []))
        return .accepted(state.put(record))
      }
    }
  }
}
