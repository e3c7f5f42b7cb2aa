public import Foundation

/// Objects that would violate a uniqueness constraint of their entity if they were saved.
///
/// A store that finds such conflicts during a save throws 133021 with all of them under
/// ``NSPersistentStoreSaveConflictsErrorKey``, and saves nothing. A snapshot maps the names of attributes and to-one
/// relationships to their values: an identifier for a relationship, `NSNull` for no value.
open class NSConstraintConflict: NSObject {
  /// The names of the attributes that no two objects may share.
  public let constraint: [String]

  /// The values of these attributes that the objects shared when the conflict was found.
  public let constraintValues: [String: Any]

  /// The object whose row has the values and keeps them; nil if only objects of the context share them.
  public let databaseObject: NSManagedObject?

  /// The row of ``databaseObject``; nil if there is none.
  public let databaseSnapshot: [String: Any]?

  /// The objects of the context that would have the values after the save.
  public let conflictingObjects: [NSManagedObject]

  /// The values of these objects when they were last fetched or saved, in the same order; empty for an inserted object.
  public let conflictingSnapshots: [[AnyHashable: Any]]

  /// Makes a conflict. A store calls this when it finds one.
  ///
  /// - Parameters:
  ///   - contraint: The names of the attributes.
  ///   - databaseObject: The object whose row keeps the values; nil if there is none. It may be a fault.
  ///   - databaseSnapshot: The row of that object.
  ///   - conflictingObjects: The objects that would have the values after the save, at least one. Merge policies prefer
  ///     the first.
  ///   - conflictingSnapshots: The former values of these objects. An element that is not a dictionary stands for an
  ///     inserted object.
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    let values = conflictingObjects.first?.values(ofConstraint: contraint) ?? [:]
    constraintValues = values
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot.map { snapshot in
      Dictionary(snapshot.compactMap { key, value in (key.base as? String).map { ($0, value) } }) { first, _ in first }
    }
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
  }

  /// The constraint and its values, and the class, entity and identifier of each object with its snapshot, as a text.
  /// Fires no fault.
  open override var description: String { text }
}

extension NSManagedObject {
  fileprivate final func values(ofConstraint constraint: [String]) -> [String: Any] {
    var values: [String: Any] = [:]
    for name in constraint where layout.place(of: name) != nil { values[name] = value(forKey: name) ?? NSNull() }
    return values
  }
}
