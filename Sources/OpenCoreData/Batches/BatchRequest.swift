import Foundation

/// A request that changes rows of one entity without making objects.
protocol BatchRequest: NSPersistentStoreRequest {
  /// The name of the entity; empty for none.
  var concernedEntityName: String { get }
}

extension NSBatchInsertRequest: BatchRequest {
  var concernedEntityName: String { entityName }
}

extension NSBatchUpdateRequest: BatchRequest {
  var concernedEntityName: String { entityName }
}

extension NSBatchDeleteRequest: BatchRequest {
  var concernedEntityName: String { fetchRequest.entityName ?? "" }
}

extension NSPersistentStore {
  /// The entity of a batch request, in the model of the store's coordinator.
  ///
  /// - Throws: ``NSCoreDataError`` if the model does not have it.
  package func entity(ofBatch name: String) throws -> NSEntityDescription {
    guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[name] else {
      throw CoreDataError.make(
        NSCoreDataError, "A batch request is for the entity \"\(name)\", which the model does not have.")
    }
    return entity
  }

  /// The fetch request for the objects that a batch request deletes.
  ///
  /// - Throws: ``NSCoreDataError`` if it has identifiers of several entities.
  package func fetchRequest(of request: NSBatchDeleteRequest) throws -> NSFetchRequest<NSManagedObject> {
    let fetch = NSFetchRequest<NSManagedObject>(copying: request.fetchRequest)
    if let names = request.objectIDs.map({ Set($0.map { $0.entity.name ?? "" }) }), names.count > 1 {
      throw CoreDataError.make(
        NSCoreDataError,
        "A batch request deletes objects of one entity, not of \(names.sorted().joined(separator: ", ")).")
    }
    fetch.entity = try entity(ofBatch: fetch.entityName ?? "")
    fetch.resultType = .managedObjectIDResultType
    (fetch.propertiesToFetch, fetch.propertiesToGroupBy, fetch.havingPredicate) = (nil, nil, nil)
    return fetch
  }
}
