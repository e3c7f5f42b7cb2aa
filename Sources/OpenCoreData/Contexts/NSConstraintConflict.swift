public import Foundation

/// Objects that would violate a uniqueness constraint of their entity if they were saved.
///
/// A store that finds one while it saves throws 133021 with all of them under ``NSPersistentStoreSaveConflictsErrorKey``, and saves
/// nothing. Snapshots have attributes and to-one relationships by their names, the latter as identifiers; `NSNull` for none.
open class NSConstraintConflict: NSObject {
  /// The names of the attributes that no two objects may share.
  public let constraint: [String]

  /// The values of these attributes that the objects shared when the conflict was found.
  public let constraintValues: [String: Any]

  /// The object of the row that has the values, and keeps them; nil if only objects of the context share them.
  public let databaseObject: NSManagedObject?

  /// That row; nil if there is none.
  public let databaseSnapshot: [String: Any]?

  /// The objects of the context that were to get the values.
  public let conflictingObjects: [NSManagedObject]

  /// What these objects had when they were fetched or saved last, in the same order; empty for one that was inserted.
  public let conflictingSnapshots: [[AnyHashable: Any]]

  /// A conflict, as stores make them that find one.
  ///
  /// - Parameters:
  ///   - contraint: The names of the attributes.
  ///   - databaseObject: The object of the row that keeps the values; nil if there is none. It may be a fault.
  ///   - databaseSnapshot: That row.
  ///   - conflictingObjects: The objects that were to get the values, one at least. Policies prefer the first.
  ///   - conflictingSnapshots: What they had before. What is no dictionary stands for an inserted object.
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
}

extension NSManagedObject {
  fileprivate final func values(ofConstraint constraint: [String]) -> [String: Any] {
    var values: [String: Any] = [:]
    for name in constraint where layout.place(of: name) != nil { values[name] = value(forKey: name) ?? NSNull() }
    return values
  }
}
