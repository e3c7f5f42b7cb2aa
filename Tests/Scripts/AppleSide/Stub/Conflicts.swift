// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation

open class NSMergeConflict: NSObject {
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) { fatalError() }
  open var sourceObject: NSManagedObject { fatalError() }
  open var objectSnapshot: [String: Any]? { fatalError() }
  open var cachedSnapshot: [String: Any]? { fatalError() }
  open var persistedSnapshot: [String: Any]? { fatalError() }
  open var newVersionNumber: Int { fatalError() }
  open var oldVersionNumber: Int { fatalError() }
}

open class NSConstraintConflict: NSObject {
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [AnyHashable: Any]?,
    conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
  ) { fatalError() }
  open var constraint: [String] { fatalError() }
  open var constraintValues: [String: Any] { fatalError() }
  open var databaseObject: NSManagedObject? { fatalError() }
  open var databaseSnapshot: [String: Any]? { fatalError() }
  open var conflictingObjects: [NSManagedObject] { fatalError() }
  open var conflictingSnapshots: [[AnyHashable: Any]] { fatalError() }
}
