import Foundation

/// Infers a mapping model from two models: what stays is found by renaming identifiers first, then by names.
struct InferredMapping {
  private let source: NSManagedObjectModel
  private let destination: NSManagedObjectModel
  /// The source entity of each destination entity that stays, by the name of the latter.
  private let origins: [String: NSEntityDescription]

  /// - Throws: ``NSInferredMappingModelError`` if nothing can be inferred.
  static func mappings(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws -> [NSEntityMapping] {
    let inference = InferredMapping(source, destination)
    let kept = Set(inference.origins.values.compactMap(\.name))
    let removed = source.entities.filter { !$0.isAbstract && !kept.contains($0.name ?? "") }
    return try destination.entities.filter { !$0.isAbstract }.map(inference.mapping)
      + removed.map { inference.mapping("Remove", .removeEntityMappingType, $0, nil) }
  }

  private init(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
    self.source = source
    self.destination = destination
    origins =
      RenamedMatching(
        destination.entities.map { ($0.name ?? "", $0.renamingIdentifier) },
        source.entities.map { ($0, $0.name ?? "", $0.renamingIdentifier) }
      ).found
  }

  private func mapping(_ entity: NSEntityDescription) throws -> NSEntityMapping {
    guard let origin = origins[entity.name ?? ""], !origin.isAbstract else {
      return mapping("Add", .addEntityMappingType, nil, entity)
    }
    let isSame = origin.name == entity.name && origin.versionHash == entity.versionHash
    let mapping =
      isSame
      ? mapping("Copy", .copyEntityMappingType, origin, entity)
      : mapping("Transform", .transformEntityMappingType, origin, entity)
    let properties = RenamedMatching(
      entity.properties.map { ($0.name, $0.renamingIdentifier) },
      origin.properties.map { ($0, $0.name, $0.renamingIdentifier) }
    ).found
    mapping.attributeMappings = try entity.attributesByName.values.sorted { $0.name < $1.name }
      .filter { !$0.isTransient && !($0 is NSDerivedAttributeDescription) }
      .map { try self.mapping($0, properties[$0.name], origin, entity) }
    mapping.relationshipMappings = try entity.relationshipsByName.values.sorted { $0.name < $1.name }
      .filter { !$0.isTransient }
      .map { try self.mapping($0, properties[$0.name], origin, entity) }
    return mapping
  }

  private func mapping(
    _ kind: String, _ type: NSEntityMappingType, _ source: NSEntityDescription?, _ destination: NSEntityDescription?
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = "IEM_\(kind)_\((destination ?? source)?.name ?? "")"
    mapping.mappingType = type
    (mapping.sourceEntityName, mapping.sourceEntityVersionHash) = (source?.name, source?.versionHash)
    (mapping.destinationEntityName, mapping.destinationEntityVersionHash) = (
      destination?.name, destination?.versionHash
    )
    if let name = source?.name { mapping.sourceExpression = NSExpression.fetchingSource(name, "TRUEPREDICATE") }
    return mapping
  }

  private func mapping(
    _ attribute: NSAttributeDescription, _ origin: NSPropertyDescription?, _ source: NSEntityDescription,
    _ destination: NSEntityDescription
  ) throws -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = attribute.name
    let isRequired = !attribute.isOptional
    guard let origin, !origin.isTransient else {
      guard !isRequired || attribute.defaultValue != nil else {
        throw failure("The attribute \(attribute.name) is required and has no default value", source, destination)
      }
      return mapping
    }
    guard let former = origin as? NSAttributeDescription, former.attributeType.widens(to: attribute.attributeType)
    else {
      throw failure(
        "Source and destination attribute types of \(attribute.name) are incompatible", source, destination)
    }
    let value = NSExpression.source(former.name)
    mapping.valueExpression = value
    if isRequired, former.isOptional {
      guard let missing = attribute.defaultValue else {
        throw failure("The attribute \(attribute.name) is required and has no default value", source, destination)
      }
      mapping.valueExpression = NSExpression(
        forConditional: NSPredicate(format: "%@ == nil", value),
        trueExpression: NSExpression(forConstantValue: missing),
        falseExpression: value)
    }
    return mapping
  }

  private func mapping(
    _ relationship: NSRelationshipDescription, _ origin: NSPropertyDescription?, _ source: NSEntityDescription,
    _ destination: NSEntityDescription
  ) throws -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = relationship.name
    guard let origin else { return mapping }
    guard let former = origin as? NSRelationshipDescription else {
      throw failure("\(relationship.name) was an attribute and becomes a relationship", source, destination)
    }
    guard relationship.isToMany || !former.isToMany else {
      throw failure("The to-many relationship \(relationship.name) becomes to-one", source, destination)
    }
    mapping.valueExpression = .destinations(of: former.name)
    return mapping
  }

  private func failure(_ reason: String, _ source: NSEntityDescription, _ destination: NSEntityDescription) -> NSError {
    CoreDataError.make(
      NSInferredMappingModelError,
      "The mapping cannot be inferred. \(reason). Entities: \(source.name ?? "") in the source model, "
        + "\(destination.name ?? "") in the destination model.",
      ["reason": reason, "sourceEntity": source.name ?? "", "destinationEntity": destination.name ?? ""])
  }
}

/// Finds for each named thing of one model the thing of another model that it was before: the one with the same
/// renaming identifier; or else the one whose name is its renaming identifier; or else the one with the same name.
private struct RenamedMatching<Former> {
  private(set) var found: [String: Former] = [:]

  init(_ named: [(name: String, renaming: String?)], _ former: [(value: Former, name: String, renaming: String?)]) {
    typealias Name = (name: String, renaming: String)
    let rules: [(Name, Name) -> Bool] = [
      { $0.renaming == $1.renaming && $0.name == $1.name }, { $0.renaming == $1.renaming },
      { $0.renaming == $1.name }, { $0.name == $1.name },
    ]
    var free = former
    for isSame in rules {
      for thing in named where found[thing.name] == nil {
        let place = free.firstIndex {
          isSame((thing.name, thing.renaming ?? thing.name), ($0.name, $0.renaming ?? $0.name))
        }
        if let place { found[thing.name] = free.remove(at: place).value }
      }
    }
  }
}

extension NSAttributeType {
  /// Whether another type has all values of this type.
  fileprivate func widens(to other: NSAttributeType) -> Bool {
    let integers: [NSAttributeType] = [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType]
    guard let own = integers.firstIndex(of: self), let wider = integers.firstIndex(of: other) else {
      return self == other
    }
    return own <= wider
  }
}

extension NSExpression {
  /// `$source.key`.
  static func source(_ keyPath: String) -> NSExpression { NSExpression(forVariable: "source").appending(keyPath) }

  /// What a mapping has made from the related objects of the source object, or all mappings together for nil.
  static func destinations(of relationship: String, madeBy mapping: String? = nil) -> NSExpression {
    NSExpression(
      forFunction: NSExpression(forVariable: "manager"),
      selectorName: mapping == nil
        ? "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
        : "destinationInstancesForEntityMappingNamed:sourceInstances:",
      arguments: [NSExpression(forConstantValue: mapping ?? relationship), NSExpression.source(relationship)])
  }

  /// The objects of an entity of the source that satisfy a predicate.
  static func fetchingSource(_ entity: String, _ predicate: String) -> NSExpression {
    let manager = NSExpression(forVariable: "manager")
    return NSFetchRequestExpression.expression(
      forFetch: NSExpression(
        forFunction: manager, selectorName: "fetchRequestForSourceEntityNamed:predicateString:",
        arguments: [NSExpression(forConstantValue: entity), NSExpression(forConstantValue: predicate)]),
      context: manager.appending("sourceContext"), countOnly: false)
  }
}
