import OpenCoreData

extension NSEntityDescription {
  package convenience init(
    _ name: String, _ attributes: KeyValuePairs<String, NSAttributeDescription.AttributeType>,
    optional: Set<String> = [], unique: [String] = [], indexes: [[String]] = []
  ) {
    self.init()
    self.name = name
    properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      attribute.isOptional = optional.contains(name)
      return attribute
    }
    if !unique.isEmpty { uniquenessConstraints = [unique] }
    self.indexes = indexes.map { names in
      NSFetchIndexDescription(
        name: names.joined(separator: " "),
        elements: names.map {
          NSFetchIndexElementDescription(property: propertiesByName[$0]!, collationType: .binary)
        })
    }
  }

  /// Connects a relationship and its inverse, which is to-many.
  package func relate(
    _ name: String, isToMany: Bool, _ destination: NSEntityDescription, _ inverseName: String,
    rule: NSDeleteRule = .nullifyDeleteRule
  ) {
    let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
    relationship.name = name
    relationship.maxCount = isToMany ? 0 : 1
    relationship.destinationEntity = destination
    relationship.inverseRelationship = inverse
    inverse.name = inverseName
    inverse.maxCount = 0
    inverse.destinationEntity = self
    inverse.inverseRelationship = relationship
    inverse.deleteRule = rule
    properties.append(relationship)
    destination.properties.append(inverse)
  }
}
