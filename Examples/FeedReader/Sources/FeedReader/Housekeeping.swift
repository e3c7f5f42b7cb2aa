import CoreData

/// Deletes what nobody will read any more.
struct Housekeeping {
  /// Deletes the articles that are older than the newest one by so many days, unless they have a star. The store deletes
  /// them; no article is read into a context. Returns how many there were.
  @MainActor
  static func forgetArticles(olderThan days: Int, in container: NSPersistentContainer) async throws -> Int {
    let forgotten = try await container.performBackgroundTask { context in
      guard let newest = try Article.newest(in: context)?.published else { return [NSManagedObjectID]() }
      let old = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
      old.predicate = NSPredicate(
        format: "published < %@ AND starredAt == nil", newest.addingTimeInterval(-86_400 * Double(days)) as NSDate)
      let request = NSBatchDeleteRequest(fetchRequest: old)
      request.resultType = .resultTypeObjectIDs
      let result = try context.execute(request) as? NSBatchDeleteResult
      return result?.result as? [NSManagedObjectID] ?? []
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectIDsKey: forgotten], into: [container.viewContext])
    return forgotten.count
  }
}
