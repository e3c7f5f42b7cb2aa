import CairnIncrementalStore
import OpenCoreData

/// One store with the objects of the random graphs, and several contexts over it.
final class AgreementStores {
  enum Kind: CaseIterable, Sendable {
    /// All contexts share a coordinator.
    case memory, incremental
    /// The last context has a coordinator of its own.
    case rows, cairn
  }

  let contexts: [NSManagedObjectContext]
  private let mailboxes: [Mailbox]
  private let coordinators: [NSPersistentStoreCoordinator]
  private let kind: Kind
  private let url = FileManager.default.temporaryDirectory.appending(path: "agreement \(UUID().uuidString)")

  init(_ kind: Kind) throws {
    self.kind = kind
    let shared = try Self.coordinator(kind, url)
    let own = kind == .rows || kind == .cairn ? try Self.coordinator(kind, url) : shared
    coordinators = [shared, own]
    contexts = [("a", shared), ("b", shared), ("c", own)].map { name, coordinator in
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      context.name = name
      return context
    }
    mailboxes = contexts.map(Mailbox.init)
  }

  deinit {
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
    TestRowStore.forget(url)
    try? FileManager.default.removeItem(at: url)
  }

  private static func coordinator(_ kind: Kind, _ url: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphProperty.makeModel())
    switch kind {
    case .memory:
      _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    case .incremental:
      NSPersistentStoreCoordinator.registerStoreClass(GraphStore.self, forStoreType: GraphStore.type)
      _ = try coordinator.addPersistentStore(
        ofType: GraphStore.type, configurationName: nil, at: URL(filePath: "/dev/null"))
    case .rows:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(
        ofType: TestRowStore.storeType, configurationName: nil, at: url, options: [RowCacheBytesOption: 2000])
    case .cairn:
      CairnIncrementalStore.register()
      _ = try coordinator.addPersistentStore(
        type: .cairn, at: url, options: [CairnDurabilityOption: "buffered", RowCacheBytesOption: 2000])
    }
    return coordinator
  }

  /// Merges what the other contexts have saved since the last merge of any context.
  func merge(into context: NSManagedObjectContext) {
    for mailbox in mailboxes {
      for notification in mailbox.empty() where notification.object as? NSManagedObjectContext !== context {
        context.mergeChanges(fromContextDidSave: notification)
      }
    }
  }

  /// What is stored, as a new context reads it, with the objects by their serial numbers.
  func saved() throws -> Graph {
    let reader = kind == .rows || kind == .cairn ? try Self.coordinator(kind, url) : coordinators[0]
    defer {
      if reader !== coordinators[0] {
        for store in reader.persistentStores { try? reader.remove(store) }
      }
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = reader
    return try context.performAndWait {
      var graph: Graph = [:]
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node")) {
        var row = GraphRow()
        for property in GraphProperty.relationships where !property.mayDangle {
          do {
            row.values[property] = .links(try Self.related(object, property).map(Self.serial))
          } catch {
            throw GraphMismatch("\(property) of \(try Self.serial(object)): \(error)")
          }
        }
        graph[try Self.serial(object)] = row
      }
      return graph
    }
  }

  private static func related(_ object: NSManagedObject, _ property: GraphProperty) throws -> [NSManagedObject] {
    switch object.value(forKey: property.rawValue) {
    case let one as NSManagedObject: [one]
    case let many as NSOrderedSet: many.array.compactMap { $0 as? NSManagedObject }
    case let many as NSSet: many.allObjects.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }

  private static func serial(_ object: NSManagedObject) throws -> Int {
    do {
      _ = try object.managedObjectContext?.existingObject(with: object.objectID)
    } catch {
      throw GraphMismatch("\(object.objectID) is referred to, and does not exist")
    }
    guard let serial = object.value(forKey: "serial") as? Int64 else {
      throw GraphMismatch("\(object.objectID) has no serial number")
    }
    return Int(serial)
  }
}
