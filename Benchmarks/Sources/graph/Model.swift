import OpenCoreData

extension CoreDataContender {
  /// Packages, with versions that are deleted with them; the versions' maintainers and sections; and the packages on
  /// which versions depend.
  static func model() -> NSManagedObjectModel {
    let package = entity("Package", texts: ["name"], unique: ["name"])
    let maintainer = entity("Maintainer", texts: ["name", "email"], unique: ["name", "email"])
    let section = entity("Section", texts: ["name"], unique: ["name"])
    let version = entity(
      "Version", texts: ["number", "architecture", "homepage", "summary", "sha256"],
      numbers: ["installedSize", "size"])
    relate(version, "package", isToMany: false, package, "versions", rule: .cascadeDeleteRule)
    relate(version, "maintainer", isToMany: false, maintainer, "versions")
    relate(version, "section", isToMany: false, section, "versions")
    relate(version, "dependencies", isToMany: true, package, "dependents")
    let model = NSManagedObjectModel()
    model.entities = [package, maintainer, section, version]
    return model
  }

  private static func entity(
    _ name: String, texts: [String], numbers: [String] = [], unique: [String] = []
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = (texts + numbers).map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = texts.contains(name) ? .string : .integer64
      attribute.isOptional = name == "homepage"
      return attribute
    }
    if !unique.isEmpty { entity.uniquenessConstraints = [unique] }
    return entity
  }

  /// Connects a relationship and its inverse, which is to-many.
  private static func relate(
    _ source: NSEntityDescription, _ name: String, isToMany: Bool, _ destination: NSEntityDescription,
    _ inverseName: String, rule: NSDeleteRule = .nullifyDeleteRule
  ) {
    let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
    relationship.name = name
    relationship.maxCount = isToMany ? 0 : 1
    relationship.destinationEntity = destination
    relationship.inverseRelationship = inverse
    inverse.name = inverseName
    inverse.maxCount = 0
    inverse.destinationEntity = source
    inverse.inverseRelationship = relationship
    inverse.deleteRule = rule
    source.properties.append(relationship)
    destination.properties.append(inverse)
  }
}
