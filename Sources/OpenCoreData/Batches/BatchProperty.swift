import Foundation

/// An attribute or a to-one relationship that batch requests may set.
final class BatchProperty {
  let name: String
  /// The place of its value among the values of an object.
  let place: Int
  let attribute: NSAttributeDescription?
  private let slot: EntityLayout.Slot
  private let type: NSAttributeType?
  private let bounds: ClosedRange<Int64>?
  private unowned let store: NSPersistentStore

  /// - Throws: ``NSCoreDataError`` if the entity does not have the property, or if batch requests cannot set it.
  init(_ name: String, of entity: NSEntityDescription, in store: NSPersistentStore) throws {
    func refused(_ reason: String) -> NSError {
      CoreDataError.make(NSCoreDataError, "A batch request sets \(entity.name ?? "").\(name), \(reason).")
    }
    guard let place = entity.layout.place(of: name) else { throw refused("which the entity does not have") }
    slot = entity.layout.slots[place]
    if slot.isTransient { throw refused("which is transient") }
    switch slot.kind {
    case .attribute(let attribute):
      if attribute is NSDerivedAttributeDescription { throw refused("which is derived") }
    case .toOne(let relationship):
      if let inverse = relationship.inverseRelationship, !inverse.isToMany {
        throw refused("a relationship whose inverse is to-one")
      }
    case .toMany: throw refused("a to-many relationship")
    case .fetched: throw refused("a fetched property")
    }
    (self.name, self.place, self.store) = (name, place, store)
    attribute = slot.attribute
    type = attribute?.attributeType
    bounds = type?.bounds
  }

  /// The value in the form in which objects keep it.
  ///
  /// - Throws: ``NSManagedObjectValidationError`` for a value that the property cannot have, and the errors for numbers
  ///   that are too large or too small.
  func value(of value: Any?) throws -> ManagedValue {
    guard let value else { return .null }
    return try self.value(given: value)
  }

  /// As ``value(of:)``.
  func value(given value: Any) throws -> ManagedValue {
    guard let type else { return try reference(to: value) }
    guard let made = ManagedValue(given: value, type) else { throw error(NSManagedObjectValidationError, value) }
    return bounds == nil ? made : try checked(made)
  }

  /// The value of an expression in the form in which objects keep it, as ``value(of:)``.
  func value(of computed: PredicateValue) throws -> ManagedValue {
    guard let type else { return try reference(to: computed.anyValue) }
    let converted = type.convert(computed)
    guard computed.isNull || !converted.isNull, let made = ManagedValue(converted: converted, type) else {
      throw error(NSManagedObjectValidationError, computed.anyValue)
    }
    return try checked(made)
  }

  /// The value, unless it is none and the property needs one.
  func unlessMissing(_ value: ManagedValue) throws -> ManagedValue {
    guard !value.isNull || slot.isOptional else { throw error(NSValidationMissingMandatoryPropertyError, nil) }
    return value
  }

  /// The value, unless it is a number that the type cannot have.
  func checked(_ value: ManagedValue) throws -> ManagedValue {
    guard let bounds, case .integer(let number) = value, !bounds.contains(number) else { return value }
    throw error(
      number > bounds.upperBound ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError, number)
  }

  private func reference(to value: Any?) throws -> ManagedValue {
    guard let value, !(value is NSNull) else { return .null }
    let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID
    guard let id, let destination = slot.relationship?.destinationEntity, !id.isTemporaryID,
      store.persistentStoreCoordinator?.presentStore(of: id) === store, id.entity.isOrInherits(from: destination)
    else { throw error(NSManagedObjectValidationError, value) }
    return .reference(id)
  }

  private func error(_ code: Int, _ value: Any?) -> NSError { slot.batchError(code, value) }
}

extension EntityLayout.Slot {
  /// The error for a value that a batch request sets.
  func batchError(_ code: Int, _ value: Any?) -> NSError {
    let name = "\(property.owner?.name ?? "").\(name)"
    let reason =
      switch code {
      case NSManagedObjectValidationError:
        "\(name) cannot have a value of the type \(value.map { "\(type(of: $0))" } ?? "nil")."
      default: ValidationErrors.text(code, name)
      }
    var userInfo: [String: Any] = [NSValidationKeyErrorKey: self.name]
    if let value { userInfo[NSValidationValueErrorKey] = value }
    return CoreDataError.make(code, "A batch request sets a value that is not right: \(reason)", userInfo)
  }
}
