import Foundation

/// Compares the object versions that a context knows with those in the stores.
enum ConflictCheck {
  /// The conflicts of objects that are about to be saved. Call it under the store lock.
  ///
  /// An object whose row was never read has no version, and conflicts only if the row is gone. An object that was
  /// deleted both here and in the store has no conflict; it is marked as `gone`, and the save does not send it to the
  /// store. An object that counts as deleted because its row was gone is no longer deleted if the row exists again. The
  /// versions of objects of a child context are compared when the parent saves them.
  static func conflicts(_ objects: [NSManagedObject], _ context: NSManagedObjectContext) throws -> [NSMergeConflict] {
    var conflicts: [NSMergeConflict] = []
    for object in objects {
      object.note(isGone: false)
      do {
        let node = try context.node(for: object.objectID)
        if object.isInaccessible { context.revive(object) }
        guard context.parent == nil, let snapshot = object.snapshot else { continue }
        if snapshot.isOutdated(by: node) {
          let committed = try NSManagedObject.committed(node, object.layout, object.objectID, context)
          conflicts.append(NSMergeConflict(object, object.layout, committed))
        } else if snapshot.versionBeforeSave != nil {
          object.confirm(version: node.version)
        }
      } catch {
        // If the whole store has been removed, the error does not mean that the row is gone.
        guard StoreCalls.isMissing(error), context.persistentStoreCoordinator?.presentStore(of: object.objectID) != nil
        else { throw error }
        guard !object.isDeleted else {
          object.note(isGone: true)
          continue
        }
        conflicts.append(NSMergeConflict(object, object.layout, nil))
      }
    }
    return conflicts
  }

  /// Throws the conflicts of a request, if there are any.
  static func check(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext) throws {
    let objects = [request.updatedObjects, request.deletedObjects, request.lockedObjects].flatMap { $0 ?? [] }
    let conflicts = try conflicts(objects, context)
    if !conflicts.isEmpty { throw error(conflicts) }
  }

  static func error(_ conflicts: [NSMergeConflict]) -> NSError {
    let first = conflicts.first.map { ", the first \($0.sourceObject.objectID)" } ?? ""
    return CoreDataError.make(
      NSManagedObjectMergeError,
      "Objects were changed by somebody else since they were fetched: \(conflicts.count)\(first).",
      [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  /// The error of a save that would violate uniqueness constraints.
  static func error(_ violations: [NSConstraintConflict]) -> NSError {
    let first = violations.first.map { conflict in
      let names = conflict.constraint.joined(separator: ", ")
      return
        ", the first of \(names) by \(conflict.conflictingObjects.map { "\($0.objectID)" }.joined(separator: ", "))"
    }
    return CoreDataError.make(
      NSManagedObjectConstraintMergeError,
      "Objects would share values that must be unique: \(violations.count) violations\(first ?? "").",
      [NSPersistentStoreSaveConflictsErrorKey: violations])
  }

  /// The conflicts that an error names, of either kind; nil for any other error.
  static func conflicts(in error: any Error) -> [Any]? {
    let error = error as NSError
    guard error.domain == NSCocoaErrorDomain else { return nil }
    let listed = error.userInfo[NSPersistentStoreSaveConflictsErrorKey]
    let conflicts: [NSObject]? =
      switch error.code {
      case NSManagedObjectMergeError: listed as? [NSMergeConflict]
      case NSManagedObjectConstraintMergeError: listed as? [NSConstraintConflict]
      default: nil
      }
    return conflicts.flatMap { $0.isEmpty ? nil : $0 }
  }
}
