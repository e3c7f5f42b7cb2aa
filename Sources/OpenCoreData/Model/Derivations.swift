/// Which properties of other objects the derived attributes of a model read.
struct Derivations {
  /// A property of an object that derivations of other objects read.
  struct Reading {
    let name: String
    /// Whether the property is itself derived.
    let isDerived: Bool
    /// The relationships that lead from the object to those whose derivations read the property.
    let way: [NSRelationshipDescription]
  }

  private var readings: [ObjectIdentifier: [Reading]] = [:]

  init(_ entities: [NSEntityDescription] = []) {
    for entity in entities {
      for path in entity.derivationPaths { follow(path, from: entity) }
    }
  }

  /// Whether no derivation reads a property of another object.
  var isEmpty: Bool { readings.isEmpty }

  /// The properties of objects of an entity that derivations of other objects read.
  subscript(entity: NSEntityDescription) -> [Reading] { readings[ObjectIdentifier(entity)] ?? [] }

  private mutating func follow(_ path: [String], from start: NSEntityDescription) {
    var entity = start
    var way: [NSRelationshipDescription] = []
    for name in path {
      guard let property = entity.propertiesByName[name] else { return }
      if !way.isEmpty {
        add(Reading(name: name, isDerived: property is NSDerivedAttributeDescription, way: way.reversed()), to: entity)
      }
      guard let relationship = property as? NSRelationshipDescription,
        let destination = relationship.destinationEntity, let inverse = relationship.inverseRelationship
      else { return }
      way.append(inverse)
      entity = destination
    }
  }

  private mutating func add(_ reading: Reading, to entity: NSEntityDescription) {
    let known = readings[ObjectIdentifier(entity)] ?? []
    if !known.contains(where: { $0.name == reading.name && $0.way.elementsEqual(reading.way, by: ===) }) {
      readings[ObjectIdentifier(entity)] = known + [reading]
    }
    for subentity in entity.subentities { add(reading, to: subentity) }
  }
}

extension NSManagedObjectModel {
  /// Why derived attributes of the model cannot follow what they are derived from, a text for each.
  var unfollowableDerivations: [String] {
    entities.flatMap(\.ownProperties).compactMap { ($0 as? NSDerivedAttributeDescription)?.missingInverse }
  }
}

extension NSEntityDescription {
  fileprivate var derivedAttributes: [NSDerivedAttributeDescription] {
    properties.compactMap { $0 as? NSDerivedAttributeDescription }
  }

  fileprivate var derivationPaths: Set<[String]> { Set(derivedAttributes.flatMap(\.paths)) }
}

extension NSDerivedAttributeDescription {
  /// The key paths that the derivation reads, without collection operators.
  var paths: [[String]] { derivationExpression?.keyPathsRead ?? [] }

  /// Says which relationship on a key path has no inverse, without which the objects to derive anew cannot be found; nil
  /// if all have one.
  var missingInverse: String? {
    for path in paths {
      var place = owner
      for name in path {
        guard let relationship = place?.propertiesByName[name] as? NSRelationshipDescription else { break }
        guard relationship.inverseRelationship != nil else {
          return "\(owner?.name ?? "").\(self.name) is derived from \(path.joined(separator: ".")), "
            + "but \(place?.name ?? "").\(name) has no inverse relationship"
        }
        place = relationship.destinationEntity
      }
    }
    return nil
  }
}

extension NSExpression {
  /// The key paths that the expression reads from the evaluated object. Those in predicates and blocks are not known.
  fileprivate var keyPathsRead: [[String]] {
    switch form {
    case .constant, .evaluatedObject, .variable, .anyKey: []
    case .keyPath(let path): [Self.keys(path)]
    case .path(let path, let operand):
      operand.form.isEvaluatedObject
        ? [Self.keys(path)] : operand.keyPathsRead.map { $0 + Self.keys(path) }
    case .function(_, let arguments), .aggregate(let arguments), .block(_, let arguments):
      arguments.flatMap(\.keyPathsRead)
    case .call(let target, _, let arguments): ([target] + arguments).flatMap(\.keyPathsRead)
    case .fetch(let request, let context, _): request.keyPathsRead + context.keyPathsRead
    case .set(_, let left, let right): left.keyPathsRead + right.keyPathsRead
    case .subquery(let collection, _, _): collection.keyPathsRead
    case .conditional(_, let yes, let no): yes.keyPathsRead + no.keyPathsRead
    }
  }

  private static func keys(_ path: String) -> [String] {
    path.split(separator: ".").filter { !$0.hasPrefix("@") && $0 != "self" }.map(String.init)
  }
}

extension NSExpression.Form {
  fileprivate var isEvaluatedObject: Bool {
    if case .evaluatedObject = self { true } else { false }
  }
}
