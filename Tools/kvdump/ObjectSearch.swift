#if !canImport(Darwin)
  import ArgumentParser
  import Cairn
  import CairnIncrementalStore
  import CairnInspection
  import Foundation
  import OpenCoreData
  import RowFormat

  /// Finds objects by a predicate, without the application's model: uses the schema in the store.
  struct ObjectSearch {
    /// How many objects one fetch returns at most.
    private static let pageLength = 1000

    /// The store as it was when the search was made.
    let store: Store
    private let objects: CairnIncrementalStore
    private let predicate: NSPredicate
    private let context: NSManagedObjectContext

    init(at path: String, _ format: String) throws {
      predicate = try NSPredicate(parsing: format)
      let schema = try Self.schema(at: path)
      let model = NSManagedObjectModel(schema)
      model.logsWarnings = false
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      CairnIncrementalStore.register()
      let added = try CocoaProblem.translating {
        try coordinator.addPersistentStore(
          type: .cairn, at: URL(fileURLWithPath: path),
          options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
      }
      guard let objects = added as? CairnIncrementalStore, let store = objects.database else {
        fatalError("A store of the type \(added.type) is not a Cairn store.")
      }
      self.objects = objects
      self.store = store
      context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
    }

    /// - Throws: `ValidationError`, with the place of the error, if the predicate cannot be parsed.
    static func validate(_ format: String) throws {
      do throws(PredicateFormatError) {
        _ = try NSPredicate(parsing: format)
      } catch {
        throw ValidationError("--where: \(error)")
      }
    }

    /// - Throws: `notFound` if there is no store, or no Core Data store.
    static func requireObjects(at path: String) throws { _ = try schema(at: path) }

    /// - Throws: `notFound` if there is no store, or no Core Data store; `readOnly` if its objects are those of a
    /// remote
    ///   service, which would not get what is changed here.
    static func requireOwnObjects(at path: String) throws {
      let store = try Watched.store(path)
      defer { try? store.close() }
      guard try store.read({ try ObjectStore($0, of: store).remoteHead() }) == nil else {
        throw StoreError(
          .readOnly, "the objects in \(path) are those of a remote service; only the application changes them")
      }
    }

    private static func schema(at path: String) throws -> Schema {
      let store = try Watched.store(path)
      defer { try? store.close() }
      return try store.read { try ObjectStore($0, of: store).names.schema }
    }

    /// How one fetch finds the objects of an entity and its subentities for which the predicate is true, in words.
    func report(of entity: String, _ limit: Int?) throws -> String {
      defer { try? store.close() }
      _ = try store.read { try ObjectStore($0, of: store).names.entity(named: entity) }
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.resultType = .managedObjectIDResultType
      request.includesPropertyValues = false
      request.fetchLimit = limit ?? 0
      request.predicate = predicate
      return try CocoaProblem.translating {
        try context.performAndWait { try objects.report(of: request, in: context).description }
      }
    }

    /// Calls `body` with each object of an entity, without its subentities, for which the predicate is true, in the
    /// order of their references.
    func forEachObject(
      of entity: String, in objects: ObjectStore, _ body: (Result<ObjectStore.Object, any Error>) throws -> ScanStep
    ) throws {
      var last: NSManagedObjectID?
      while true {
        let page = try page(of: entity, after: last)
        for id in page {
          let reference = try objects.names.reference(id.uriRepresentation().absoluteString)
          let found: Result<ObjectStore.Object, any Error>
          do {
            guard let object = try objects.object(reference) else { continue }
            found = .success(object)
          } catch {
            found = .failure(error)
          }
          guard try body(found) == .next else { return }
        }
        guard page.count == Self.pageLength else { return }
        last = page.last
      }
    }

    private func page(of entity: String, after last: NSManagedObjectID?) throws -> [NSManagedObjectID] {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
      request.resultType = .managedObjectIDResultType
      request.includesSubentities = false
      request.includesPropertyValues = false
      request.fetchLimit = Self.pageLength
      request.predicate = predicate
      if let last {
        let after = try NSPredicate(parsing: "SELF > %@", arguments: [last])
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [after, predicate])
      }
      // A fetch does not check for interruption, so Control-C ends the process directly during it.
      Interruption.unwatch()
      Interruption.endIfRequested()
      defer { Interruption.watch() }
      return try CocoaProblem.translating { try context.performAndWait { try context.fetch(request) } }
    }
  }
#endif
