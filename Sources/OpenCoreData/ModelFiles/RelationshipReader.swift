import Foundation

/// Reads relationships, and connects them once all entities have theirs.
struct RelationshipReader {
  let entities: [String: NSEntityDescription]

  /// A relationship without destination and inverse.
  static func relationship(_ element: ModelElement) throws(ModelFileError) -> NSRelationshipDescription {
    try element.allow(["userInfo"])
    let relationship = NSRelationshipDescription()
    try relationship.describe(element)
    relationship.isOrdered = try element.flag("ordered")
    relationship.minCount = try element.count("minCount") ?? 0
    let isToMany = try element.flag("toMany")
    relationship.maxCount = try element.count("maxCount") ?? (isToMany ? 0 : 1)
    relationship.deleteRule = try element.choice("deletionRule", deleteRules) ?? relationship.deleteRule
    if relationship.maxCount != 0, relationship.minCount > relationship.maxCount {
      throw element.error("minCount is greater than maxCount")
    }
    if relationship.maxCount == 1, isToMany {
      throw element.error("a to-many relationship has a maxCount of more than 1, or none")
    }
    return relationship
  }

  private static let deleteRules: [String: NSDeleteRule] = [
    "No Action": .noActionDeleteRule, "Nullify": .nullifyDeleteRule, "Cascade": .cascadeDeleteRule,
    "Deny": .denyDeleteRule,
  ]

  /// Gives the relationships in the elements of entities their destinations and inverses.
  func connect(_ elements: [ModelElement]) throws(ModelFileError) {
    for (element, relationship) in try relationships(of: elements) {
      relationship.destinationEntity = try entity("destinationEntity", of: element)
    }
    for (element, relationship) in try relationships(of: elements) where element.text("inverseName") != nil {
      relationship.inverseRelationship = try inverse(of: relationship, element)
    }
    for (element, relationship) in try relationships(of: elements) {
      guard let inverse = relationship.inverseRelationship else { continue }
      guard inverse.inverseRelationship === relationship else {
        throw element.error(
          "the inverse \"\(inverse.name)\" of \"\(inverse.entity.name ?? "")\" has another inverse or none")
      }
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
    return inverse
  }

  private func entity(_ attribute: String, of element: ModelElement) throws(ModelFileError) -> NSEntityDescription {
    let name = try element.required(attribute)
    guard let entity = entities[name] else { throw element.error("there is no entity \"\(name)\"") }
    return entity
  }
}
