import Foundation

/// Reads relationships, and connects them once the relationships of all entities are read.
struct RelationshipReader {
  let entities: [String: NSEntityDescription]

  /// A relationship without destination and inverse.
  static func relationship(_ element: ModelElement) throws(ModelFileError) -> NSRelationshipDescription {
    element.expect(["userInfo"])
    let relationship = NSRelationshipDescription()
    try relationship.describe(element)
    relationship.isOrdered = element.flag("ordered")
    (relationship.minCount, relationship.maxCount) = counts(element)
    if let rule = element.assuming("Nullify is assumed", try element.choice("deletionRule", deleteRules)) {
      relationship.deleteRule = rule
    }
    return relationship
  }

  private static let deleteRules: [String: NSDeleteRule] = [
    "No Action": .noActionDeleteRule, "Nullify": .nullifyDeleteRule, "Cascade": .cascadeDeleteRule,
    "Deny": .denyDeleteRule,
  ]

  /// The minimum and maximum count. `toMany` decides whether the maximum is 1.
  private static func counts(_ element: ModelElement) -> (least: Int, greatest: Int) {
    let isToMany = element.flag("toMany")
    let least = element.count("minCount") ?? 0
    var greatest = element.count("maxCount") ?? (isToMany ? 0 : 1)
    if isToMany, greatest == 1 {
      element.warn("a to-many relationship has a maxCount of more than 1, or none; none is assumed")
      greatest = 0
    } else if !isToMany, greatest != 1 {
      element.warn("a to-one relationship has a maxCount of 1, not \(greatest); 1 is assumed")
      greatest = 1
    }
    guard greatest == 0 || least <= greatest else {
      element.warn("minCount is greater than maxCount; 0 is assumed")
      return (0, greatest)
    }
    return (least, greatest)
  }

  /// Sets the destinations and inverses of the relationships in the elements of entities.
  func connect(_ elements: [ModelElement]) throws(ModelFileError) {
    let pairs = try relationships(of: elements)
    for (element, relationship) in pairs {
      relationship.destinationEntity = try entity("destinationEntity", of: element)
    }
    for (element, relationship) in pairs where element.text("inverseName") != nil {
      relationship.inverseRelationship = element.assuming(
        "no inverse is assumed", try inverse(of: relationship, element))
    }
    let paired = Set(pairs.filter { $0.1.inverseRelationship != nil }.map { ObjectIdentifier($0.1) })
    for (element, relationship) in pairs { agree(relationship, element, paired) }
  }

  /// Makes the relationship the inverse of its inverse if the file names no inverse for the latter; removes the inverse
  /// if it has another inverse. Adds a warning in both cases.
  private func agree(
    _ relationship: NSRelationshipDescription, _ element: ModelElement, _ paired: Set<ObjectIdentifier>
  ) {
    guard let inverse = relationship.inverseRelationship, inverse.inverseRelationship !== relationship else { return }
    let name = "\"\(inverse.name)\" of \"\(inverse.entity.name ?? "")\""
    if inverse.inverseRelationship == nil, !paired.contains(ObjectIdentifier(inverse)) {
      element.warn("the inverse \(name) has no inverse; this one is assumed")
      inverse.inverseRelationship = relationship
    } else {
      element.warn("the inverse \(name) has another inverse; no inverse is assumed")
      relationship.inverseRelationship = nil
    }
  }

  private func relationships(
    of elements: [ModelElement]
  ) throws(ModelFileError) -> [(ModelElement, NSRelationshipDescription)] {
    var pairs: [(ModelElement, NSRelationshipDescription)] = []
    for element in elements {
      let relationships = try entity("name", of: element).relationshipsByName
      for child in element.children("relationship") {
        if let relationship = relationships[try child.required("name")] { pairs.append((child, relationship)) }
      }
    }
    return pairs
  }

  private func inverse(
    of relationship: NSRelationshipDescription, _ element: ModelElement
  ) throws(ModelFileError) -> NSRelationshipDescription {
    let entity =
      element.text("inverseEntity") == nil ? relationship.destinationEntity : try entity("inverseEntity", of: element)
    let name = try element.required("inverseName")
    guard let inverse = entity?.relationshipsByName[name] else {
      throw element.error("\"\(entity?.name ?? "")\" has no relationship \"\(name)\" to be the inverse")
    }
    guard refers(relationship, to: inverse), refers(inverse, to: relationship) else {
      throw element.error("\"\(name)\" of \"\(entity?.name ?? "")\" leads elsewhere and cannot be the inverse")
    }
    return inverse
  }

  /// Whether all objects to which the relationship `one` refers have the relationship `other`.
  private func refers(_ one: NSRelationshipDescription, to other: NSRelationshipDescription) -> Bool {
    one.destinationEntity?.isKindOf(entity: other.entity) == true
  }

  private func entity(_ attribute: String, of element: ModelElement) throws(ModelFileError) -> NSEntityDescription {
    let name = try element.required(attribute)
    guard let entity = entities[name] else { throw element.error("there is no entity \"\(name)\"") }
    return entity
  }
}
