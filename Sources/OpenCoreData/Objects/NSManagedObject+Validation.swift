import Foundation

extension NSManagedObject {
  /// Validates each property with ``validateValue(_:forKey:)``, which may replace values.
  final func validateValues() throws {
    try throwingErrorsOfFaults { fireFault() }
    guard !isFault, !isInaccessible else { return }
    var errors: [NSError] = []
    // A class that overrides `validateValue` is asked about all properties.
    let asksForAll = OverriddenMethod.validateValue.isOverridden(in: type(of: self))
    for place in asksForAll ? Array(layout.slots.indices) : layout.limited {
      let slot = layout.slots[place]
      if case .fetched = slot.kind { continue }
      let kept = values[place]
      if !asksForAll, slot.certainlyAllows(kept) { continue }
      // Values that are not known have not changed.
      switch kept {
      case .fault, .reference: continue
      default: break
      }
      if case .members(let members) = kept, members.isFault, slot.property.isUnbounded { continue }
      do {
        let old = try slot.isToMany ? throwingErrorsOfFaults { self.value(at: place) } : self.value(at: place)
        var value = old
        try validateValue(&value, forKey: slot.name)
        if let attribute = slot.attribute, !isSame(value, old, attribute, values[place]) { set(value, at: place) }
      } catch {
        errors.append(error as NSError)
      }
    }
    if let error = ValidationErrors.combined(errors) { throw error }
  }

  /// Runs a closure that reads values, and throws the error of the first fault that could not be read meanwhile.
  private final func throwingErrorsOfFaults<Result>(_ body: () -> Result) throws -> Result {
    guard let context = managedObjectContext else { return body() }
    return try context.throwingErrorsOfFaults(body)
  }

  /// Whether a value after its validation is still the one before it, of which `kept` is the form in which the object
  /// has it.
  private final func isSame(
    _ value: Any?, _ old: Any?, _ attribute: NSAttributeDescription, _ kept: ManagedValue
  ) -> Bool {
    // Comparing the values of a transformable attribute may take long.
    if case .other = kept, isSameObject(value, old) { return true }
    return ManagedValue(value, of: attribute).isEqual(kept)
  }

  /// Whether both are nil or the same instance of a class; this comparison needs no conversion.
  private final func isSameObject(_ left: Any?, _ right: Any?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return type(of: left) is AnyClass && type(of: right) is AnyClass && left as AnyObject === right as AnyObject
  }

  final func validate(_ value: Any?, _ slot: EntityLayout.Slot) throws {
    switch slot.kind {
    case .attribute(let attribute): try validate(value, attribute, slot)
    case .toOne(let relationship):
      guard value != nil || relationship.isOptional else {
        throw error(NSValidationMissingMandatoryPropertyError, value, slot)
      }
    case .toMany(let relationship) where !relationship.isUnbounded:
      let count = (value as? NSSet)?.count ?? (value as? NSOrderedSet)?.count ?? 0
      if count == 0, relationship.isOptional { return }
      if count < relationship.minCount {
        throw error(NSValidationRelationshipLacksMinimumCountError, value, slot)
      }
      if relationship.maxCount > 0, count > relationship.maxCount {
        throw error(NSValidationRelationshipExceedsMaximumCountError, value, slot)
      }
    case .toMany, .fetched: break
    }
    guard let value, !slot.property.validationPredicates.isEmpty else { return }
    for (predicate, warning) in zip(slot.property.validationPredicates, slot.property.validationWarnings)
    where !predicate.evaluate(with: value) {
      let code = (warning as? Int) ?? (warning as? NSNumber)?.intValue
      throw error(code ?? NSManagedObjectValidationError, value, slot, predicate: predicate, text: warning as? String)
    }
  }

  private final func validate(_ value: Any?, _ attribute: NSAttributeDescription, _ slot: EntityLayout.Slot) throws {
    guard let value else {
      guard attribute.isOptional else { throw error(NSValidationMissingMandatoryPropertyError, nil, slot) }
      return
    }
    guard let bounds = attribute.attributeType.bounds, let number = (value as? NSNumber)?.int64Value,
      !bounds.contains(number)
    else { return }
    throw error(
      number > bounds.upperBound ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError, value, slot)
  }

  /// Throws if a relationship with the delete rule *deny* has objects that are not deleted, too.
  final func validateDeletion() throws {
    guard layout.slots.contains(where: { $0.relationship?.deleteRule == .denyDeleteRule }) else { return }
    try throwingErrorsOfFaults { fireFault() }
    guard !isFault, !isInaccessible else { return }
    var errors: [NSError] = []
    for (place, slot) in layout.slots.enumerated() {
      guard let relationship = slot.relationship, relationship.deleteRule == .denyDeleteRule else { continue }
      let objects = try throwingErrorsOfFaults {
        slot.isToMany ? members(of: relationship, at: place).elements : toOne(at: place).map { [$0] } ?? []
      }
      guard objects.contains(where: { managedObjectContext?.isPresent($0) == true }) else { continue }
      errors.append(error(NSValidationRelationshipDeniedDeleteError, value(at: place), slot))
    }
    if let error = ValidationErrors.combined(errors) { throw error }
  }

  private final func error(
    _ code: Int, _ value: Any?, _ slot: EntityLayout.Slot, predicate: NSPredicate? = nil, text: String? = nil
  ) -> NSError {
    var userInfo: [String: Any] = [NSValidationKeyErrorKey: slot.name, NSValidationObjectErrorKey: self]
    if let value { userInfo[NSValidationValueErrorKey] = value }
    if let predicate { userInfo[NSValidationPredicateErrorKey] = predicate }
    let name = "\(entity.name ?? "").\(slot.name)"
    return CoreDataError.make(code, text ?? ValidationErrors.text(code, name), userInfo)
  }
}

extension NSPropertyDescription {
  /// Whether the property is a relationship that allows any number of objects.
  var isUnbounded: Bool {
    (self as? NSRelationshipDescription).map { $0.minCount == 0 && $0.maxCount == 0 } ?? false
  }
}

/// The errors for invalid values.
enum ValidationErrors {
  /// Nil for no error, a single error as it is, and several errors as one that contains them.
  static func combined(_ errors: [NSError]) -> NSError? {
    let all = errors.flatMap { error in
      error.domain == NSCocoaErrorDomain && error.code == NSValidationMultipleErrorsError
        ? error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error] : [error]
    }
    guard all.count > 1 else { return all.first }
    return CoreDataError.make(
      NSValidationMultipleErrorsError, "\(all.count) values are not right: \(all[0].localizedDescription) …",
      [NSDetailedErrorsKey: all])
  }

  static func text(_ code: Int, _ name: String) -> String {
    switch code {
    case NSValidationMissingMandatoryPropertyError: "\(name) needs a value."
    case NSValidationRelationshipLacksMinimumCountError: "\(name) has too few objects."
    case NSValidationRelationshipExceedsMaximumCountError: "\(name) has too many objects."
    case NSValidationRelationshipDeniedDeleteError: "The object cannot be deleted as long as \(name) has objects."
    case NSValidationNumberTooLargeError: "\(name) is too large."
    case NSValidationNumberTooSmallError: "\(name) is too small."
    case NSValidationDateTooLateError: "\(name) is too late."
    case NSValidationDateTooSoonError: "\(name) is too soon."
    case NSValidationStringTooLongError: "\(name) is too long."
    case NSValidationStringTooShortError: "\(name) is too short."
    case NSValidationStringPatternMatchingError: "\(name) does not match its pattern."
    default: "\(name) has a value that is not right."
    }
  }
}
