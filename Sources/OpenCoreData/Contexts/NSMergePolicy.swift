public import Foundation

/// What becomes of objects that were changed by somebody else since they were fetched.
///
/// Subclass it and override ``resolve(mergeConflicts:)`` for a policy of your own; what it does to the objects is what is saved.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  /// Which of the policies it is.
  public let mergeType: NSMergePolicyType

  /// A policy.
  public init(merge ty: NSMergePolicyType) { mergeType = ty }

  /// Saving fails.
  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// Of a value that was changed on both sides, that of the store is kept; all other changes are saved.
  public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
  /// Of a value that was changed on both sides, that of the context is saved; what only the store has changed is taken over.
  public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// All values of the context are saved, also those that only the store has changed.
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// The changes of the object are given up.
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

  /// Brings the objects of some conflicts into the state that is to be saved.
  ///
  /// An object that was deleted in the store is inserted again by the policies that prefer the context, and counts as deleted by those
  /// that prefer the store.
  /// - Throws: 133020 with the conflicts, if the policy is not to resolve them.
  open func resolve(mergeConflicts list: [Any]) throws {
    try resolve(optimisticLockingConflicts: list.compactMap { $0 as? NSMergeConflict })
  }

  /// As ``resolve(mergeConflicts:)``.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    guard mergeType != .errorMergePolicyType else { throw ConflictCheck.error(list) }
    for conflict in list { resolve(conflict) }
  }

  private func resolve(_ conflict: NSMergeConflict) {
    let object = conflict.sourceObject
    guard let context = object.managedObjectContext else { return }
    let prefersContext =
      mergeType == .overwriteMergePolicyType || mergeType == .mergeByPropertyObjectTrumpMergePolicyType
    guard conflict.newVersionNumber > 0 else {
      context.rowIsGone(object, insertsAgain: prefersContext)
      return
    }
    // A fault has nothing that could conflict but members that were added or removed.
    if object.isFault {
      guard !prefersContext else { return }
      for place in object.values.indices { object.takeBackRelationship(at: place) }
      context.pending.forget(object)
      object.values = []
      return
    }
    guard let row = conflict.row ?? context.row(of: object) else { return }
    if object.isDeleted {
      if prefersContext {
        (object.values, object.snapshot) = (row.values, row)
      } else {
        object.forEachKnownRelated { other, inverse in
          other.takeBackInverse(inverse) { $0.takeBackRemoval(of: object) }
        }
        context.pending.forget(object)
        object.adopt(row, keepingChanges: false)
      }
      return
    }
    let old = object.snapshot
    switch mergeType {
    case .rollbackMergePolicyType:
      for place in object.values.indices { object.takeBackRelationship(at: place) }
      context.pending.forget(object)
      object.adopt(row, keepingChanges: false)
    case .mergeByPropertyStoreTrumpMergePolicyType:
      object.adopt(row, keepingChanges: true) { place in
        old.map { $0.values[place].isEqual(row.values[place]) } ?? true
      }
    case .overwriteMergePolicyType:
      let values = object.values
      object.adopt(row, keepingChanges: true)
      for (place, slot) in object.layout.slots.enumerated() where slot.isInSnapshot {
        object.values[place] = values[place]
      }
    default: object.adopt(row, keepingChanges: true)
    }
    object.awake { $0.awake(fromSnapshotEvents: .mergePolicy) }
    context.pending.event.refreshed.append(object)
  }
}

extension NSManagedObjectContext {
  /// The row of an object, for a conflict that does not show it.
  fileprivate func row(of object: NSManagedObject) -> RowSnapshot? {
    try? NSManagedObject.committed(node(for: object.objectID), object.layout, object.objectID, self).snapshot
  }

  /// Somebody else has deleted the row of an object that was changed here.
  fileprivate func rowIsGone(_ object: NSManagedObject, insertsAgain: Bool) {
    pending.forget(object)
    lockedObjects.remove(object)
    if insertsAgain, object.state.isDisjoint(with: [.fault, .inaccessible]) {
      object.snapshot = nil
      for (place, slot) in object.layout.slots.enumerated() {
        // What is not known of it is lost.
        if case .toMany(let relationship) = slot.kind { _ = object.members(of: relationship, at: place) }
      }
      object.forEachKnownRelated { other, inverse in
        if !other.isDeleted { other.takeInverseAgain(object, inverse) }
      }
      object.state.formUnion([.inserted, .reinserted])
      pending.inserted.append(object)
    } else {
      object.forEachKnownRelated { other, inverse in other.dropInverse(object, inverse) }
      object.state.insert(.deleted)
      pending.event.deleted.append(object)
    }
  }

}

/// The policies. The raw values are those of Core Data.
public enum NSMergePolicyType: UInt, Sendable {
  /// ``NSMergePolicy/error``.
  case errorMergePolicyType = 0
  /// ``NSMergePolicy/mergeByPropertyStoreTrump``.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// ``NSMergePolicy/mergeByPropertyObjectTrump``.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// ``NSMergePolicy/overwrite``.
  case overwriteMergePolicyType = 3
  /// ``NSMergePolicy/rollback``.
  case rollbackMergePolicyType = 4
}

/// ``NSMergePolicy/error``.
public let NSErrorMergePolicy: any AnyObject & Sendable = NSMergePolicy.error
/// ``NSMergePolicy/mergeByPropertyStoreTrump``.
public let NSMergeByPropertyStoreTrumpMergePolicy: any AnyObject & Sendable = NSMergePolicy.mergeByPropertyStoreTrump
/// ``NSMergePolicy/mergeByPropertyObjectTrump``.
public let NSMergeByPropertyObjectTrumpMergePolicy: any AnyObject & Sendable = NSMergePolicy.mergeByPropertyObjectTrump
/// ``NSMergePolicy/overwrite``.
public let NSOverwriteMergePolicy: any AnyObject & Sendable = NSMergePolicy.overwrite
/// ``NSMergePolicy/rollback``.
public let NSRollbackMergePolicy: any AnyObject & Sendable = NSMergePolicy.rollback
