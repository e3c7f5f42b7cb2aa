import Foundation

extension NSManagedObject {
  final var layout: EntityLayout { objectID.entity.layout }

  /// Ends the program if the caller is not on the queue of the context.
  final func checkQueue() {
    if let registry, !registry.isOwned { registry.context?.checkQueue() }
  }

  final func undefined(_ key: String) -> Never {
    fatalError("The entity \(entity.name ?? "") has no property \"\(key)\".")
  }

  final func value(forUnmodelledKey key: String) -> Any? {
    switch key {
    case "self": self
    case "objectID": objectID
    case "entity": entity
    case "managedObjectContext": managedObjectContext
    case "isInserted": isInserted
    case "isUpdated": isUpdated
    case "isDeleted": isDeleted
    case "hasChanges": hasChanges
    case "isFault": isFault
    case "description": description
    default: undefined(key)
    }
  }

  /// The value of a slot in the form that the application gets; nil if the row has not been read.
  final func value(at place: Int) -> Any? {
    guard hasValues else { return nil }
    let slot = layout.slots[place]
    switch slot.kind {
    case .attribute(let attribute): return value(inSlot: place).anyValue(of: attribute.attributeType)
    case .toOne: return toOne(at: place)
    case .toMany(let relationship): return members(of: relationship, at: place).collection
    case .fetched(let property): return fetched(property, at: place)
    }
  }

  /// The value of a property in the form that predicates compare. Takes less work than ``value(forKey:)``, which is
  /// called for keys that are not properties.
  public final func predicateValue(forKey key: String) -> PredicateValue {
    guard let place = layout.place(of: key) else { return PredicateValue(value(forKey: key)) }
    checkQueue()
    return predicateValue(at: place)
  }

  /// The value of a slot in the form that predicates compare.
  final func predicateValue(at place: Int) -> PredicateValue {
    let slot = layout.slots[place]
    fireFault(slot.name)
    guard hasValues else { return .null }
    switch slot.kind {
    case .attribute: return value(inSlot: place).predicateValue
    case .toOne: return toOne(at: place).map { .object($0) } ?? .null
    case .toMany(let relationship):
      let members = members(of: relationship, at: place)
      return .collection(members.elements.map { .object($0) }, ordered: relationship.isOrdered)
    case .fetched: return PredicateValue(value(at: place))
    }
  }

  /// The text of a slot in descriptions: to-many relationships with their number of objects, to-one relationships with
  /// the identifier.
  final func text(at place: Int) -> String {
    let slot = layout.slots[place]
    let text =
      switch values[place] {
      case .null: "nil"
      case .members(let members): members.isFault ? "<fault>" : "\(members.count) objects"
      case .fault: "<fault>"
      case .fetched(let objects): "\(objects.count) objects"
      case let value:
        value.objectID?.description ?? slot.attribute.flatMap { value.anyValue(of: $0.attributeType) }.map { "\($0)" }
          ?? ""
      }
    return "\(slot.name) = \(text)"
  }

  final func set(_ value: Any?, at place: Int) {
    let slot = layout.slots[place]
    fireFaultToChange(slot.name)
    switch slot.kind {
    case .attribute(let attribute):
      let value = ManagedValue(value, of: attribute)
      change(at: place, to: value)
      didChangeValue(forKey: slot.name)
    case .toOne(let relationship):
      setToOne(related(value, relationship).first, relationship, at: place)
      didChangeValue(forKey: slot.name)
    case .toMany(let relationship):
      setMembers(related(value, relationship), relationship, at: place)
      didChangeValue(forKey: slot.name)
    case .fetched: fatalError("\(slot.name) is a fetched property and cannot be set.")
    }
  }

  private final func fetched(_ property: NSFetchedPropertyDescription, at place: Int) -> [NSManagedObject] {
    if case .fetched(let objects) = values[place] { return objects }
    guard let objects = managedObjectContext?.objects(of: property, for: self) else { return [] }
    put(.fetched(objects), at: place)
    return objects
  }

  /// The objects in a value that a relationship is set to: an object, nil, or a collection of objects.
  final func related(_ value: Any?, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
    guard let value else { return [] }
    let objects: [Any]
    // Casting a Swift collection to a Foundation class would convert it.
    if type(of: value) is AnyClass {
      if let object = value as? NSManagedObject {
        check(object, relationship)
        return [object]
      }
      objects =
        switch value {
        case is NSNull: []
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: set.array
        case let array as NSArray: array.map { $0 }
        default: [value]
        }
    } else if let set = value as? Set<NSManagedObject> {
      for object in set { check(object, relationship) }
      return Array(set)
    } else {
      objects =
        switch value {
        case let array as [Any]: array
        case let set as Set<AnyHashable>: set.map(\.base)
        default: [value]
        }
    }
    return objects.map { object in
      guard let object = object as? NSManagedObject else {
        fatalError(
          "\(entity.name ?? "").\(relationship.name) relates to objects, and not to \(type(of: object)).")
      }
      check(object, relationship)
      return object
    }
  }

  /// Ends the program if an object cannot be at the other end of a relationship.
  final func check(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    if let destination = relationship.destinationEntity {
      require(
        object.entity === destination || object.entity.isKindOf(entity: destination),
        """
        Unacceptable type of value for \(entity.name ?? "").\(relationship.name): desired entity = \
        \(destination.name ?? ""); given entity = \(object.entity.name ?? "").
        """)
    }
    require(
      object.registry === registry,
      """
      Illegal attempt to establish the relationship \(entity.name ?? "").\(relationship.name) between objects in \
      different contexts.
      """)
  }
}

extension NSManagedObject {
  /// Sets the values of properties; `NSNull` stands for nil.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// The values for some keys; `NSNull` for no value.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
  }
}
