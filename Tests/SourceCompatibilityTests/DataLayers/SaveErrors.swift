import CoreData
import Foundation

/// What to tell the user when a save fails.
struct SaveFailure: Equatable {
  let messages: [String]

  init(_ error: Error) {
    let error = error as NSError
    guard error.domain == NSCocoaErrorDomain else {
      messages = ["\(error.domain) \(error.code)"]
      return
    }
    var errors = [error]
    if error.code == NSValidationMultipleErrorsError {
      errors = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
    }
    messages = errors.map(SaveFailure.message).sorted()
  }

  private static func message(for error: NSError) -> String {
    let entityName = (error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.entity.name ?? "unknown"
    let attributeName = error.userInfo[NSValidationKeyErrorKey] as? String ?? "unknown"
    switch error.code {
    case NSManagedObjectValidationError:
      return "Generic validation error."
    case NSValidationMissingMandatoryPropertyError:
      return "\(entityName).\(attributeName) mustn't be empty."
    case NSValidationRelationshipLacksMinimumCountError:
      return "\(entityName).\(attributeName) has too few."
    case NSValidationRelationshipExceedsMaximumCountError:
      return "\(entityName).\(attributeName) has too many."
    case NSValidationRelationshipDeniedDeleteError:
      return "\(entityName).\(attributeName) denies the deletion."
    case NSValidationNumberTooLargeError, NSValidationNumberTooSmallError:
      return "\(entityName).\(attributeName) is out of range."
    case NSValidationDateTooLateError, NSValidationDateTooSoonError, NSValidationInvalidDateError:
      return "\(entityName).\(attributeName) is no date of ours."
    case NSValidationStringTooLongError, NSValidationStringTooShortError, NSValidationStringPatternMatchingError:
      return "\(entityName).\(attributeName) doesn't match."
    case NSManagedObjectMergeError:
      return "Somebody else has changed \(entityName)."
    default:
      return "Unknown error \(error.code)."
    }
  }
}

enum SaveOutcome: Equatable {
  case saved
  case missing(String)
  case invalid
  case conflict(Int)
  case failed(Int)

  /// The same with the codes of `CocoaError`.
  static func save(_ context: NSManagedObjectContext) -> SaveOutcome {
    do {
      try context.save()
      return .saved
    } catch let error as CocoaError where error.code == .validationMissingMandatoryProperty {
      return .missing(error.userInfo[NSValidationKeyErrorKey] as? String ?? "")
    } catch CocoaError.managedObjectMerge {
      return .conflict(1)
    } catch let error as CocoaError {
      switch error.code {
      case .validationMultipleErrors, .managedObjectValidation, .validationStringTooShort:
        return .invalid
      case .managedObjectConstraintMerge:
        let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        return .conflict(conflicts?.count ?? 0)
      default:
        return .failed(error.errorCode)
      }
    } catch {
      return .failed((error as NSError).code)
    }
  }
}
