import Foundation

/// Reads the indexes and uniqueness constraints of an entity that has its properties.
struct IndexReader {
  let element: ModelElement
  let entity: NSEntityDescription

  func read() throws(ModelFileError) {
    var indexes: [NSFetchIndexDescription] = []
    for child in element.children("fetchIndex") { indexes.append(try fetchIndex(child)) }
    indexes += try indexedAttributes() + compoundIndexes()
    entity.indexes = indexes
    entity.uniquenessConstraints = try uniquenessConstraints()
  }

  private func fetchIndex(_ index: ModelElement) throws(ModelFileError) -> NSFetchIndexDescription {
    try index.allow(["fetchIndexElement", "userInfo"])
    var elements: [NSFetchIndexElementDescription] = []
    for child in index.children("fetchIndexElement") {
      let indexed =
        child.text("expression") == nil ? try property("property", of: child) : try expression(child)
      let type = try child.choice("type", ["Binary": .binary, "RTree": NSFetchIndexElementType.rTree]) ?? .binary
      let element = NSFetchIndexElementDescription(property: indexed, collationType: type)
      element.isAscending = try child.choice("order", ["ascending": true, "descending": false]) ?? true
      elements.append(element)
    }
    let description = NSFetchIndexDescription(name: try index.required("name"), elements: elements)
    description.partialIndexPredicate = try index.predicate("partialIndexPredicate")
    return description
  }

  private func expression(_ child: ModelElement) throws(ModelFileError) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = try child.required("expression")
    description.expression = try child.expression("expression")
    description.expressionResultType =
      try child.choice("expressionType", AttributeReader.types) ?? .undefinedAttributeType
    return description
  }

  /// Attributes that are marked as indexed, as they were before Xcode 9. A relationship so marked says nothing: stores
  /// find objects by their relationships anyway.
  private func indexedAttributes() throws(ModelFileError) -> [NSFetchIndexDescription] {
    var indexes: [NSFetchIndexDescription] = []
    for child in element.children("attribute") where try child.flag("indexed") {
      indexes.append(index([try property("name", of: child)]))
    }
    return indexes
  }

  /// Indexes of several attributes, as they were before Xcode 9.
  private func compoundIndexes() throws(ModelFileError) -> [NSFetchIndexDescription] {
    var indexes: [NSFetchIndexDescription] = []
    for compound in element.children("compoundIndexes").flatMap(\.children) {
      var properties: [NSPropertyDescription] = []
      for part in compound.children("index") { properties.append(try property("value", of: part)) }
      indexes.append(index(properties))
    }
    return indexes
  }

  /// An ascending index, named after the properties.
  private func index(_ properties: [NSPropertyDescription]) -> NSFetchIndexDescription {
    NSFetchIndexDescription(
      name: "by" + properties.map { $0.name.prefix(1).uppercased() + $0.name.dropFirst() }.joined(),
      elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
  }

  private func uniquenessConstraints() throws(ModelFileError) -> [[Any]] {
    var constraints: [[Any]] = []
    for constraint in element.children("uniquenessConstraints").flatMap(\.children) {
      var names: [String] = []
      for part in constraint.children("constraint") { names.append(try property("value", of: part).name) }
      constraints.append(names)
    }
    return constraints
  }

  /// The property of which the attribute of an element gives the name.
  private func property(_ attribute: String, of child: ModelElement) throws(ModelFileError) -> NSPropertyDescription {
    let name = try child.required(attribute)
    guard let property = entity.propertiesByName[name] else {
      throw child.error("\"\(entity.name ?? "")\" has no property \"\(name)\"")
    }
    return property
  }
}
