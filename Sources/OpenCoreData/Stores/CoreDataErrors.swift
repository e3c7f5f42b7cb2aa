package import Foundation

/// A validation failed for which there is no more specific error.
public let NSManagedObjectValidationError = 1550
/// An object does not satisfy a uniqueness constraint.
public let NSManagedObjectConstraintValidationError = 1551
/// There are several validation errors; ``NSDetailedErrorsKey`` contains them.
public let NSValidationMultipleErrorsError = 1560
/// A property that is not optional has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A relationship has fewer objects than it must have.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A relationship has more objects than it may have.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// An object cannot be deleted while others refer to it.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is larger than allowed.
public let NSValidationNumberTooLargeError = 1610
/// A number is smaller than allowed.
public let NSValidationNumberTooSmallError = 1620
/// A date is later than allowed.
public let NSValidationDateTooLateError = 1630
/// A date is earlier than allowed.
public let NSValidationDateTooSoonError = 1640
/// A value is not a valid date.
public let NSValidationInvalidDateError = 1650
/// A string is longer than allowed.
public let NSValidationStringTooLongError = 1660
/// A string is shorter than allowed.
public let NSValidationStringTooShortError = 1670
/// A string does not match the pattern it must match.
public let NSValidationStringPatternMatchingError = 1680
/// A value is not a valid URI.
public let NSValidationInvalidURIError = 1690

/// A context could not be locked.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator could not be locked.
public let NSPersistentStoreCoordinatorLockingError = 132010

/// There is no row for an object.
public let NSManagedObjectReferentialIntegrityError = 133000
/// An object refers to an object in another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// Others have changed objects that are to be saved; ``NSPersistentStoreSaveConflictsErrorKey`` contains the conflicts.
public let NSManagedObjectMergeError = 133020
/// Rows would violate a uniqueness constraint; ``NSPersistentStoreSaveConflictsErrorKey`` contains the conflicts.
public let NSManagedObjectConstraintMergeError = 133021

/// No store class is registered for the type.
public let NSPersistentStoreInvalidTypeError = 134000
/// The store is of another type than the one asked for.
public let NSPersistentStoreTypeMismatchError = 134010
/// The store does not support what the model asks for.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// Saving failed.
public let NSPersistentStoreSaveError = 134030
/// Saving failed in some stores; ``NSAffectedStoresErrorKey`` contains them.
public let NSPersistentStoreIncompleteSaveError = 134040
/// Saving found conflicts that no merge policy has resolved.
public let NSPersistentStoreSaveConflictsError = 134050
/// An error of no particular kind.
public let NSCoreDataError = 134060
/// A store could not do what it was asked to do.
public let NSPersistentStoreOperationError = 134070
/// A store could not be opened.
public let NSPersistentStoreOpenError = 134080
/// A store did not answer in time.
public let NSPersistentStoreTimeoutError = 134090
/// A store does not know the kind of request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The model is not the one that the store was written with.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed.
public let NSMigrationError = 134110
/// A migration would violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration was cancelled.
public let NSMigrationCancelledError = 134120
/// The model that the store was written with was not found.
public let NSMigrationMissingSourceModelError = 134130
/// There is no mapping from one model to the other.
public let NSMigrationMissingMappingModelError = 134140
/// The store to migrate from failed.
public let NSMigrationManagerSourceStoreError = 134150
/// The store to migrate to failed.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// SQLite reported an error.
public let NSSQLiteError = 134180
/// A mapping could not be inferred from two models.
public let NSInferredMappingModelError = 134190
/// An external record could not be imported.
public let NSExternalRecordImportError = 134200
/// The history that a token refers to has been deleted.
public let NSPersistentHistoryTokenExpiredError = 134301
/// The model that a reference names was not found.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// Staged migration and its framework are of different versions.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// A staged migration would lead back to an earlier version.
public let NSStagedMigrationBackwardMigrationError = 134506

/// The key of the errors that an error consists of, an array, in its user info.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The key of the object in the user info of a validation error.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The key of the property's name in the user info of a validation error.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The key of the predicate that is not satisfied, in the user info of a validation error.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The key of the value in the user info of a validation error.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The key of the affected stores, an array, in the user info of an error.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The key of the affected objects, an array, in the user info of an error.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The key of the conflicts, an array, in the user info of a failed save's error.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

/// Makes the errors of Core Data, which are Cocoa errors.
package enum CoreDataError {
  /// An error with one of the codes above.
  ///
  /// - Parameter text: The error's description: a sentence that names the object, store or request concerned.
  package static func make(_ code: Int, _ text: String, _ userInfo: [String: Any] = [:]) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: code,
      userInfo: userInfo.merging([NSLocalizedDescriptionKey: text]) { given, _ in given })
  }
}
