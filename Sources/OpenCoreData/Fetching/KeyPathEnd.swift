import Foundation

/// The value at the end of a key path, as far as the model determines it.
struct KeyPathEnd {
  enum Value {
    case object(NSEntityDescription)
    case attribute(NSAttributeDescription)
    /// A value that has the same keys as this sample.
    case value(PredicateValue)
    case anything
  }

  var value: Value
  /// Whether there are several values.
  var isToMany = false

  static var anything: KeyPathEnd { KeyPathEnd(value: .anything) }

  /// Whether there can be several values. The model does not determine that for values of unknown type.
  var canBeToMany: Bool {
    switch value {
    case .anything: true
    case .value(let sample): isToMany || sample.elements != nil
    case .attribute(let attribute): isToMany || attribute.holdsAnything
    case .object: isToMany
    }
  }

  /// Each of several values.
  var element: KeyPathEnd { KeyPathEnd(value: value) }

  /// The end of a key path that begins here.
  ///
  /// Takes time proportional to the length of the path.
  func following(_ path: String) throws(KeyPathBreak) -> KeyPathEnd {
    guard path.isEmpty || path.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }) else {
      return try following(key: path)
    }
    var end = self
    var operators: [CollectionOperator] = []
    for key in path.split(separator: ".") {
      if let named = CollectionOperator(key: String(key)) {
        guard end.canBeToMany else { throw .unknown }
        operators.append(named)
        end = end.element
      } else {
        end = try end.following(key: String(key))
      }
    }
    return operators.reversed().reduce(end) { $1.end(of: $0) }
  }

  private func following(key: String) throws(KeyPathBreak) -> KeyPathEnd {
    switch value {
    case _ where key == "self": self
    case .anything: self
    case .attribute(let attribute): KeyPathEnd(value: try attribute.part(for: key), isToMany: isToMany)
    case .value(let sample): KeyPathEnd(value: try sample.part(for: key), isToMany: isToMany)
    case .object(let entity):
      if let property = entity.propertiesByName[key] {
        try following(property)
      } else {
        try following(objectKey: key, of: entity)
      }
    }
  }

  private func following(objectKey key: String, of entity: NSEntityDescription) throws(KeyPathBreak) -> KeyPathEnd {
    guard let read = NSManagedObjectID.reader(ofObjectKey: key) else { throw .unknown }
    return KeyPathEnd(value: .value(read(NSManagedObjectID(temporaryFor: entity))), isToMany: isToMany)
  }

  private func following(_ property: NSPropertyDescription) throws(KeyPathBreak) -> KeyPathEnd {
    guard !property.isTransient else { throw .transient }
    switch property {
    case let attribute as NSAttributeDescription:
      return KeyPathEnd(value: .attribute(attribute), isToMany: isToMany)
    case let relationship as NSRelationshipDescription:
      return KeyPathEnd(
        value: relationship.destinationEntity.map { .object($0) } ?? .anything,
        isToMany: isToMany || relationship.isToMany)
    default: throw .unknown
    }
  }
}

/// Why a key path is invalid.
enum KeyPathBreak: Error {
  case unknown
  case transient
}

extension NSAttributeDescription {
  /// Whether the type of its values is not known.
  fileprivate var holdsAnything: Bool {
    attributeType == .transformableAttributeType || attributeType == .undefinedAttributeType
  }

  /// The result of a key of the attribute's values.
  fileprivate func part(for key: String) throws(KeyPathBreak) -> KeyPathEnd.Value {
    if holdsAnything { return .anything }
    if let element = (self as? NSCompositeAttributeDescription)?.elements.first(where: { $0.name == key }) {
      return .attribute(element)
    }
    guard let sample = attributeType.sample else { throw .unknown }
    return try sample.part(for: key)
  }
}

extension PredicateValue {
  /// The result of a key of values of this kind.
  fileprivate func part(for key: String) throws(KeyPathBreak) -> KeyPathEnd.Value {
    guard let part = property(key) else { throw .unknown }
    if case .object(let object) = part, keyValues(of: object) != nil { return .anything }
    return part.isNull ? .anything : .value(part)
  }
}

extension CollectionOperator {
  /// The result of the operator for several values.
  fileprivate func end(of each: KeyPathEnd) -> KeyPathEnd {
    switch self {
    case .count, .sum, .average, .minimum, .maximum: .anything
    default: KeyPathEnd(value: each.value, isToMany: true)
    }
  }
}
