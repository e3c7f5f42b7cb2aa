import OpenCoreData

extension GraphProperty {
  /// The model of the random graphs: nodes, and leaves, which are a subentity of nodes.
  ///
  /// Besides the properties, a node has the number under which it was inserted.
  static func makeModel() -> NSManagedObjectModel {
    let node = NSEntityDescription()
    node.name = "Node"
    let leaf = NSEntityDescription()
    leaf.name = "Leaf"
    node.subentities = [leaf]

    let relationships = Dictionary(uniqueKeysWithValues: relationships.map { ($0, $0.makeRelationship(to: node)) })
    for (property, description) in relationships {
      description.inverseRelationship = property.inverse.flatMap { relationships[$0] }
    }
    node.properties =
      [
        attribute("serial", .integer64), attribute("number", .integer64),
        attribute("text", .string, isOptional: false, defaultValue: "a"),
      ] + GraphProperty.relationships.compactMap { relationships[$0] }
    let model = NSManagedObjectModel()
    model.entities = [node, leaf]
    return model
  }

  private func makeRelationship(to node: NSEntityDescription) -> NSRelationshipDescription {
    relationship(rawValue, to: node, isToMany: isToMany) {
      $0.isOrdered = isOrdered
      if self == .line { $0.maxCount = Self.lineLengthMax }
      $0.deleteRule =
        switch deleteRule {
        case .nullify: .nullifyDeleteRule
        case .cascade: .cascadeDeleteRule
        case .deny: .denyDeleteRule
        case .nothing: .noActionDeleteRule
        }
    }
  }
}
