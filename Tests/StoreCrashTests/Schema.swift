import OpenCoreData

/// The relationships of a thing: every kind of relationship, each with its inverse.
enum Relation: String, CaseIterable, Sendable {
  /// To-one; the children are deleted with their parent.
  case parent, children
  /// To-one and ordered.
  case head, line
  /// One-to-one.
  case peer, peerOf
  /// Many-to-many; members are ordered, groups are not.
  case groups, members
  /// Many-to-many, its own inverse.
  case friends
  /// A warden cannot be deleted as long as it has wards.
  case warden, wards
  /// Deleting either leaves the other as it is.
  case subject, remarks
  /// Without an inverse: to-one, to-many, and ordered.
  case link, links, chain

  var inverse: Relation? {
    switch self {
    case .parent: .children
    case .children: .parent
    case .head: .line
    case .line: .head
    case .peer: .peerOf
    case .peerOf: .peer
    case .groups: .members
    case .members: .groups
    case .friends: .friends
    case .warden: .wards
    case .wards: .warden
    case .subject: .remarks
    case .remarks: .subject
    case .link, .links, .chain: nil
    }
  }

  var isToMany: Bool {
    [.children, .line, .groups, .members, .friends, .wards, .remarks, .links, .chain].contains(self)
  }

  var isOrdered: Bool { [.line, .members, .chain].contains(self) }

  enum DeleteRule {
    case nullify, cascade, deny, nothing
  }

  var deleteRule: DeleteRule {
    switch self {
    case .children: .cascade
    case .wards: .deny
    case .subject, .remarks, .link, .links, .chain: .nothing
    default: .nullify
    }
  }
}

/// The attributes of a thing. No two things have the same name; no two special ones have the same code and rank.
enum Attribute: String, CaseIterable, Sendable {
  case number, name, text
  /// Only special things have them.
  case code, rank

  var isText: Bool { [.name, .text, .code].contains(self) }
  var isSpecial: Bool { [.code, .rank].contains(self) }

  static let constraints: [[Attribute]] = [[.name], [.code, .rank]]
}

/// The model: things, and special things as a subentity. Besides these attributes, each has the serial number under
/// which it was made.
func makeModel(hasIndexes: Bool = true) -> NSManagedObjectModel {
  let thing = NSEntityDescription()
  thing.name = "Thing"
  let special = NSEntityDescription()
  special.name = "Special"
  thing.subentities = [special]

  let relationships = Dictionary(uniqueKeysWithValues: Relation.allCases.map { ($0, makeRelationship($0, thing)) })
  for (relation, description) in relationships {
    description.inverseRelationship = relation.inverse.flatMap { relationships[$0] }
  }
  let common = Attribute.allCases.filter { !$0.isSpecial }
  thing.properties =
    [makeAttribute("serial", .integer64AttributeType)] + common.map(makeAttribute)
    + Relation.allCases.compactMap { relationships[$0] }
  special.properties = Attribute.allCases.filter(\.isSpecial).map(makeAttribute)
  thing.uniquenessConstraints = [["name"]]
  special.uniquenessConstraints = [["code", "rank"]]
  if hasIndexes {
    let named = makeIndex(["number"], of: thing)
    named.partialIndexPredicate = NSPredicate(format: "name != nil")
    thing.indexes = [makeIndex(["number", "text"], of: thing), makeIndex(["name"], of: thing), named]
  }

  let model = NSManagedObjectModel()
  model.entities = [thing, special]
  return model
}

private func makeIndex(_ names: [String], of entity: NSEntityDescription) -> NSFetchIndexDescription {
  let elements = names.compactMap { entity.propertiesByName[$0] }
    .map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
  return NSFetchIndexDescription(name: names.joined(separator: " "), elements: elements)
}

private func makeAttribute(_ attribute: Attribute) -> NSAttributeDescription {
  makeAttribute(attribute.rawValue, attribute.isText ? .stringAttributeType : .integer64AttributeType)
}

private func makeAttribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  attribute.name = name
  attribute.attributeType = type
  attribute.isOptional = true
  return attribute
}

private func makeRelationship(_ relation: Relation, _ destination: NSEntityDescription) -> NSRelationshipDescription {
  let relationship = NSRelationshipDescription()
  relationship.name = relation.rawValue
  relationship.destinationEntity = destination
  relationship.isOptional = true
  relationship.minCount = 0
  relationship.maxCount = relation.isToMany ? 0 : 1
  relationship.isOrdered = relation.isOrdered
  relationship.deleteRule =
    switch relation.deleteRule {
    case .nullify: .nullifyDeleteRule
    case .cascade: .cascadeDeleteRule
    case .deny: .denyDeleteRule
    case .nothing: .noActionDeleteRule
    }
  return relationship
}
