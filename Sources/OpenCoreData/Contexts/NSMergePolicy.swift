public import Foundation

/// Decides what to save of objects that somebody else has changed since they were fetched, and of objects that would
/// violate a uniqueness constraint.
///
/// For a policy of your own, subclass it and override ``resolve(mergeConflicts:)``; the save stores the objects as that
/// method leaves them.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  /// The type of the policy.
  public let mergeType: NSMergePolicyType

  /// Makes a policy of a type.
  public init(merge ty: NSMergePolicyType) { mergeType = ty }

  /// Saving fails.
  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// If a value was changed on both sides, the store's value is kept; all other changes are saved.
  public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
  /// If a value was changed on both sides, the context's value is saved; values that only the store has changed are
  /// taken over.
  public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// All values of the context are saved, also where only the store has changed a value.
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// The changes of the object are discarded.
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

  /// Brings the objects of conflicts into the state that is to be saved.
  ///
  /// Passes conflicts of uniqueness constraints to ``resolve(constraintConflicts:)``, and the others to
  /// ``resolve(optimisticLockingConflicts:)``. An object that was deleted in the store is inserted again by the
  /// policies that prefer the context, and counts as deleted by those that prefer the store.
  /// - Throws: 133020, or 133021 for uniqueness constraints, with the conflicts, if the policy is ``error``; any error
  ///   of the store when a row is read.
  open func resolve(mergeConflicts list: [Any]) throws {
    let violations = list.compactMap { $0 as? NSConstraintConflict }
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    if violations.isEmpty || !conflicts.isEmpty { try resolve(optimisticLockingConflicts: conflicts) }
    if !violations.isEmpty { try resolve(constraintConflicts: violations) }
  }

  /// As ``resolve(mergeConflicts:)``, for objects that somebody else has changed.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    guard mergeType != .errorMergePolicyType else { throw ConflictCheck.error(list) }
    for conflict in list { try resolve(conflict) }
  }

  /// Brings objects that violate uniqueness constraints into the state that is to be saved.
  ///
  /// ``mergeByPropertyStoreTrump`` and ``rollback`` prefer the row that has the values: an object that was inserted
  /// here is discarded; an object that was changed here gets back the constraint's values as it was fetched or last
  /// saved with them, and keeps its other changes.
  ///
  /// ``mergeByPropertyObjectTrump`` and ``overwrite`` prefer the object of the context. If it was inserted, the object
  /// of the row takes over its values and keeps the row's identifier, and the inserted object is discarded. Properties
  /// that are nil or empty in the inserted object keep the row's values with ``mergeByPropertyObjectTrump``, and become
  /// nil or empty with ``overwrite``; default values of attributes count as values. Members of a to-many relationship
  /// replace those of the row. If the object of the context was changed, the object of the row is deleted, as by
  /// ``NSManagedObjectContext/delete(_:)``.
  ///
  /// If several objects of the context share the values, every policy prefers the first of
  /// ``NSConstraintConflict/conflictingObjects``; the others are discarded if they were inserted, and otherwise get
  /// back their former values of the constraint.
  ///
  /// A discarded object leaves the context, like an object that is inserted and deleted before a save, together with
  /// the inserted objects that its cascade rules reach. Saved objects that were related to it get back their former
  /// relationships; none of them is deleted. A relationship without an inverse that referred to it refers to the object
  /// that has taken over its values, if there is one.
  ///
  /// Called on the queue of the context. Takes time proportional to the number of conflicts and of the objects that are
  /// related to discarded objects, and, for each discarded object, to the number of unsaved objects.
  ///
  /// - Throws: 133021 with the conflicts, if the policy is ``error``; any error of the store when a row is read.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    guard mergeType != .errorMergePolicyType else { throw ConflictCheck.error(list) }
    for conflict in list { try ConstraintResolution(conflict, mergeType)?.resolve() }
  }

  private final func resolve(_ conflict: NSMergeConflict) throws {
    let object = conflict.sourceObject
    guard let context = object.managedObjectContext else { return }
    let prefersContext =
      mergeType == .overwriteMergePolicyType || mergeType == .mergeByPropertyObjectTrumpMergePolicyType
    guard conflict.newVersionNumber > 0 else {
      context.rowIsGone(object, insertsAgain: prefersContext)
      return
    }
    // In a fault, only added or removed members can conflict.
    if object.isFault {
      guard !prefersContext else { return }
      for place in object.values.indices { object.takeBackRelationship(at: place) }
      context.pending.forget(object)
      object.turnIntoFault()
      return
    }
    guard let row = try conflict.row ?? context.row(of: object) else { return }
    if object.isDeleted {
      if prefersContext {
        object.take(row.values, row)
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
        object.put(values[place], at: place)
        object.keepToOne(at: place, insteadOf: row.values[place])
      }
    default: object.adopt(row, keepingChanges: true)
    }
    object.awake { $0.awake(fromSnapshotEvents: .mergePolicy) }
    context.pending.event.noteRefresh(of: object)
  }
}

extension NSManagedObjectContext {
  /// Reads the row of an object, for a conflict that has no snapshot of it; nil if the row is gone.
  fileprivate func row(of object: NSManagedObject) throws -> RowSnapshot? {
    do {
      return try NSManagedObject.committed(node(for: object.objectID), object.layout, object.objectID, self)
    } catch {
      guard StoreCalls.isMissing(error) else { throw error }
      return nil
    }
  }

  /// Handles an object that was changed here and whose row somebody else has deleted: inserts it again, or counts it as
  /// deleted.
  func rowIsGone(_ object: NSManagedObject, insertsAgain: Bool) {
    if insertsAgain, !object.isFault, !object.isInaccessible {
      object.loseRow()
      // First, because the object may refer to itself.
      pending.insertAgain(object)
      for (place, slot) in object.layout.slots.enumerated() {
        // Members that have not been read are lost.
        if case .toMany(let relationship) = slot.kind { _ = object.members(of: relationship, at: place) }
      }
      object.forEachKnownRelated { other, inverse in
        if !other.isDeleted { other.takeInverseAgain(object, inverse) }
      }
    } else {
      pending.delete(lost: object)
      object.forEachKnownRelated { other, inverse in
        if other !== object { other.dropInverse(object, inverse) }
      }
      departed.append(object)
      pending.event.noteDeletion(of: object)
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
