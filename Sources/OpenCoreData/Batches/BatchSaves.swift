import Foundation

/// The saves of one batch request: one for all objects, or one for some at a time.
package enum BatchSaves {
  /// Calls `save` until it returns false. It saves up to `limit` objects, adds them to the identifiers, and returns
  /// whether there may be more objects.
  ///
  /// - Throws: the errors of `save`, with the number of objects of the saves before if these are several.
  package static func run(
    objectsPerSave: Int, _ ids: inout BatchIDs, _ save: (_ limit: Int, inout BatchIDs) throws -> Bool
  ) throws {
    let limit = objectsPerSave > 0 ? objectsPerSave : .max
    while true {
      let before = ids.count
      do {
        guard try save(limit, &ids) else { return }
      } catch {
        guard objectsPerSave > 0 else { throw error }
        let error = error as NSError
        var userInfo = error.userInfo
        userInfo[NSPersistentStoreRequest.savedCountErrorKey] = before
        throw NSError(domain: error.domain, code: error.code, userInfo: userInfo)
      }
    }
  }
}

extension NSManagedObjectContext {
  /// What the merge policy of the context does.
  package var mergePolicyType: NSMergePolicyType { (mergePolicy as? NSMergePolicy)?.mergeType ?? .errorMergePolicyType }
}
