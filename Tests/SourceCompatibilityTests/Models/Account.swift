import CoreData
import Foundation

enum AccountError: Int {
  case invalidEmail = 1
  case underage = 2

  static let domain = "AccountErrorDomain"
}

final class Account: NSManagedObject {
  var email: String? {
    get { value(forKey: "email") as? String }
    set { setValue(newValue, forKey: "email") }
  }
  var birthday: Date? {
    get { value(forKey: "birthday") as? Date }
    set { setValue(newValue, forKey: "birthday") }
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    try validateConsistency()
  }

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try validateConsistency()
  }

  override func validateForDelete() throws {
    try super.validateForDelete()
    guard email != "admin@example.com" else {
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
        userInfo: [NSLocalizedDescriptionKey: "The administrator stays.", NSValidationObjectErrorKey: self])
    }
  }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "email", let text = value as? String {
      value = text.trimmingCharacters(in: .whitespaces).lowercased()
    }
    try super.validateValue(&value, forKey: key)
  }

  private func validateConsistency() throws {
    var errors: [NSError] = []
    if let email, !email.contains("@") {
      errors.append(error(.invalidEmail, key: "email", value: email, "The address has no @."))
    }
    if let birthday, birthday > Date(timeIntervalSince1970: 1_000_000_000) {
      errors.append(error(.underage, key: "birthday", value: birthday, "The owner is too young."))
    }
    switch errors.count {
    case 0: return
    case 1: throw errors[0]
    default:
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError, userInfo: [NSDetailedErrorsKey: errors])
    }
  }

  private func error(_ code: AccountError, key: String, value: Any, _ text: String) -> NSError {
    NSError(
      domain: AccountError.domain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: text,
        NSValidationObjectErrorKey: self,
        NSValidationKeyErrorKey: key,
        NSValidationValueErrorKey: value,
      ])
  }

  static let model: NSManagedObjectModel = {
    let entity = NSEntityDescription()
    entity.name = "Account"
    entity.managedObjectClassName = NSStringFromClass(Account.self)
    let email = NSAttributeDescription()
    email.name = "email"
    email.attributeType = .stringAttributeType
    email.isOptional = false
    email.setValidationPredicates(
      [NSPredicate(format: "SELF MATCHES %@", ".{3,}"), NSPredicate(format: "length <= %d", 40)],
      withValidationWarnings: ["too short", "too long"])
    entity.properties = [email, .attribute("birthday", .date)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()
}
