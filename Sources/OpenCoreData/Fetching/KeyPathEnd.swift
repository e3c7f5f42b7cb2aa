import Foundation

/// What is at the end of a key path, as far as the model tells.
struct KeyPathEnd {
  enum Value {
    case object(NSEntityDescription)
    case attribute(NSAttributeDescription)
    case anything
  }

  var value: Value
  /// Whether there are several of them.
  var isToMany = false

  static var anything: KeyPathEnd { KeyPathEnd(value: .anything) }

  /// Whether there can be several of them, which the model does not tell of values of any type.
  var canBeToMany: Bool {
    switch value {
    case .anything: true
    case .attribute(let attribute): isToMany || attribute.holdsAnything
    case .object: isToMany
    }
  }

  /// Each one of several.
  var element: KeyPathEnd { KeyPathEnd(value: value) }

  /// What is at the end of a path that begins here.
  func following(_ path: String) throws(KeyPathBreak) -> KeyPathEnd {
    try following(path.split(separator: ".")[...])
  }

  private func following(_ path: ArraySlice<Substring>) throws(KeyPathBreak) -> KeyPathEnd {
    guard let key = path.first.map(String.init) else { return self }
    guard let named = CollectionOperator(rawValue: key) else {
      return try following(key: key).following(path.dropFirst())
    }
    guard canBeToMany else { throw .unknown }
    return named.end(of: try element.following(path.dropFirst()))
  }

  private func following(key: String) throws(KeyPathBreak) -> KeyPathEnd {
    switch value {
    case _ where key == "self": self
    case .anything: self
    case .attribute(let attribute): KeyPathEnd(value: try attribute.part(for: key), isToMany: isToMany)
    case .object(let entity): try following(entity.propertiesByName[key])
    }
  }

  private func following(_ property: NSPropertyDescription?) throws(KeyPathBreak) -> KeyPathEnd {
    guard property?.isTransient != true else { throw .transient }
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

/// Why a key path leads nowhere.
enum KeyPathBreak: Error {
  case unknown
  case transient
}

extension NSAttributeDescription {
  /// Whether the type of its values is not known.
  fileprivate var holdsAnything: Bool {
    attributeType == .transformableAttributeType || attributeType == .undefinedAttributeType
  }

  /// What a key of its values leads to.
  fileprivate func part(for key: String) throws(KeyPathBreak) -> KeyPathEnd.Value {
    if holdsAnything { return .anything }
    if let element = (self as? NSCompositeAttributeDescription)?.elements.first(where: { $0.name == key }) {
      return .attribute(element)
    }
    guard attributeType == .stringAttributeType, !PredicateValue.string("").value(forKey: key).isNull else {
      throw .unknown
    }
    return .anything
  }
}

extension CollectionOperator {
  /// What the operator makes of several values.
  fileprivate func end(of each: KeyPathEnd) -> KeyPathEnd {
    switch self {
    case .count, .sum, .average, .minimum, .maximum: .anything
    default: KeyPathEnd(value: each.value, isToMany: true)
    }
  }
}
