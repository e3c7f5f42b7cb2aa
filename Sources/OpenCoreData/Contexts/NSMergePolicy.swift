public import Foundation

/// What becomes of objects that were changed by somebody else since they were fetched, and of those that would violate a uniqueness
/// constraint.
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
  /// Those of uniqueness constraints go to ``resolve(constraintConflicts:)``, the others to ``resolve(optimisticLockingConflicts:)``.
  open func resolve(mergeConflicts list: [Any]) throws {
    let violations = list.compactMap { $0 as? NSConstraintConflict }
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    if violations.isEmpty || !conflicts.isEmpty { try resolve(optimisticLockingConflicts: conflicts) }
    if !violations.isEmpty { try resolve(constraintConflicts: violations) }
  }

  /// As ``resolve(mergeConflicts:)``, of objects that were changed by somebody else.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    guard mergeType != .errorMergePolicyType else { throw ConflictCheck.error(list) }
    for conflict in list { resolve(conflict) }
  }

  /// Brings objects that violate uniqueness constraints into the state that is to be saved.
  ///
  /// ``mergeByPropertyStoreTrump`` and ``rollback`` prefer the row that has the values: an object that was inserted here is discarded; one
  /// that was changed here has the values of the constraint again that it was fetched or saved with, and keeps its other changes.
  ///
  /// ``mergeByPropertyObjectTrump`` and ``overwrite`` prefer the object of the context. If it was inserted, the object of the row takes over
  /// all that it has, keeps its identifier, and the inserted one is discarded. What the inserted object does not have stays as it
  /// was in the row with the former, and becomes nil or empty with the latter; values that attributes have by default count as
  /// values. Members of a to-many relationship replace those of the row. If it was changed, the object of the row is deleted, as
  /// ``NSManagedObjectContext/delete(_:)`` would.
  ///
  /// Where several objects of the context share the values, the first of ``NSConstraintConflict/conflictingObjects`` is the one to be
  /// preferred, whatever the policy; the others are discarded if they were inserted, and otherwise have their former values.
  ///
  /// A discarded object leaves the context, as one does that is inserted and deleted before a save, with the inserted objects that a
  /// cascade reaches. Saved objects that were related to it are related again to what they were before; none of them is deleted. A
  /// relationship without an inverse leads to the object that has taken over, if there is one.
  ///
  /// Called on the queue of the context. Takes time in proportion to the conflicts and to what the discarded objects are related to; if the
  /// model has relationships without an inverse, also to the unsaved objects for each discarded one.
  ///
  /// - Throws: 133021 with the conflicts, if the policy is not to resolve them; what the store throws when a row is read.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    guard mergeType != .errorMergePolicyType else { throw ConflictCheck.error(list) }
    for conflict in list { try ConstraintResolution(conflict, mergeType)?.resolve() }
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
      for (place, slot) in object.layout.slots.enumerated()
      where slot.isInSnapshot && !object.values[place].isEqual(values[place]) {
        object.values[place] = values[place]
        object.keepToOne(at: place, insteadOf: row.values[place])
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
