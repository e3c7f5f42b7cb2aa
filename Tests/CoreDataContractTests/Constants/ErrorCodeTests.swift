import CoreData
import Testing

@Suite("Error codes")
struct ErrorCodeTests {
  @Test("The error codes of validation have Apple's values.")
  func validation() {
    #expect(NSManagedObjectValidationError == 1550)
    #expect(NSManagedObjectConstraintValidationError == 1551)
    #expect(NSValidationMultipleErrorsError == 1560)
    #expect(NSValidationMissingMandatoryPropertyError == 1570)
    #expect(NSValidationRelationshipLacksMinimumCountError == 1580)
    #expect(NSValidationRelationshipExceedsMaximumCountError == 1590)
    #expect(NSValidationRelationshipDeniedDeleteError == 1600)
    #expect(NSValidationNumberTooLargeError == 1610)
    #expect(NSValidationNumberTooSmallError == 1620)
    #expect(NSValidationDateTooLateError == 1630)
    #expect(NSValidationDateTooSoonError == 1640)
    #expect(NSValidationInvalidDateError == 1650)
    #expect(NSValidationStringTooLongError == 1660)
    #expect(NSValidationStringTooShortError == 1670)
    #expect(NSValidationStringPatternMatchingError == 1680)
    #expect(NSValidationInvalidURIError == 1690)
  }

  @Test("The error codes of contexts and objects have Apple's values.")
  func objects() {
    #expect(NSManagedObjectContextLockingError == 132000)
    #expect(NSPersistentStoreCoordinatorLockingError == 132010)
    #expect(NSManagedObjectReferentialIntegrityError == 133000)
    #expect(NSManagedObjectExternalRelationshipError == 133010)
    #expect(NSManagedObjectMergeError == 133020)
    #expect(NSManagedObjectConstraintMergeError == 133021)
  }

  @Test("The error codes of stores have Apple's values.")
  func stores() {
    #expect(NSPersistentStoreInvalidTypeError == 134000)
    #expect(NSPersistentStoreTypeMismatchError == 134010)
    #expect(NSPersistentStoreIncompatibleSchemaError == 134020)
    #expect(NSPersistentStoreSaveError == 134030)
    #expect(NSPersistentStoreIncompleteSaveError == 134040)
    #expect(NSPersistentStoreSaveConflictsError == 134050)
    #expect(NSCoreDataError == 134060)
    #expect(NSPersistentStoreOperationError == 134070)
    #expect(NSPersistentStoreOpenError == 134080)
    #expect(NSPersistentStoreTimeoutError == 134090)
    #expect(NSPersistentStoreUnsupportedRequestTypeError == 134091)
    #expect(NSPersistentStoreIncompatibleVersionHashError == 134100)
  }

  @Test("The error codes of migration, history and other features have Apple's values.")
  func others() {
    #expect(NSMigrationError == 134110)
    #expect(NSMigrationConstraintViolationError == 134111)
    #expect(NSMigrationCancelledError == 134120)
    #expect(NSMigrationMissingSourceModelError == 134130)
    #expect(NSMigrationMissingMappingModelError == 134140)
    #expect(NSMigrationManagerSourceStoreError == 134150)
    #expect(NSMigrationManagerDestinationStoreError == 134160)
    #expect(NSEntityMigrationPolicyError == 134170)
    #expect(NSSQLiteError == 134180)
    #expect(NSInferredMappingModelError == 134190)
    #expect(NSExternalRecordImportError == 134200)
    #expect(NSPersistentHistoryTokenExpiredError == 134301)
    #expect(NSManagedObjectModelReferenceNotFoundError == 134504)
    #expect(NSStagedMigrationFrameworkVersionMismatchError == 134505)
    #expect(NSStagedMigrationBackwardMigrationError == 134506)
  }
}
