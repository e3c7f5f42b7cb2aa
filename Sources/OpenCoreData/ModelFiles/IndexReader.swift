import Foundation

/// Reads the indexes and uniqueness constraints of an entity whose properties are already declared.
struct IndexReader {
  let element: ModelElement
  let entity: NSEntityDescription

  func read() {
    entity.indexes = fetchIndexes() + indexedAttributes() + compoundIndexes()
    entity.uniquenessConstraints = uniquenessConstraints()
  }

  private func fetchIndexes() -> [NSFetchIndexDescription] {
    var indexes: [NSFetchIndexDescription] = []
    for child in element.children("fetchIndex") {
      if let index = child.assuming("the index is left out", try fetchIndex(child)) { indexes.append(index) }
    }
    return indexes
  }

  private func fetchIndex(_ index: ModelElement) throws(ModelFileError) -> NSFetchIndexDescription {
    index.expect(["fetchIndexElement", "userInfo"])
    var elements: [NSFetchIndexElementDescription] = []
    for child in index.children("fetchIndexElement") {
      let indexed =
        child.text("expression") == nil ? try property("property", of: child) : try expression(child)
      let type = child.assuming("Binary is assumed", try child.choice("type", Self.types)) ?? .binary
      let element = NSFetchIndexElementDescription(property: indexed, collationType: type)
      let isAscending = child.assuming("ascending is assumed", try child.choice("order", Self.orders))
      element.isAscending = isAscending ?? true
      elements.append(element)
    }
    let description = NSFetchIndexDescription(name: try index.required("name"), elements: elements)
    description.partialIndexPredicate = try index.predicate("partialIndexPredicate")
    return description
  }

  private static let types: [String: NSFetchIndexElementType] = ["Binary": .binary, "RTree": .rTree]
  private static let orders = ["ascending": true, "descending": false]

  private func expression(_ child: ModelElement) throws(ModelFileError) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = try child.required("expression")
    description.expression = try child.expression("expression")
    let type = child.assuming("Undefined is assumed", try child.choice("expressionType", AttributeReader.types))
    description.expressionResultType = type ?? .undefinedAttributeType
    return description
  }

  /// An index for each attribute that is marked as indexed, as in models from before Xcode 9. Marked relationships get
  /// none: stores can look up objects by relationship without an index.
  private func indexedAttributes() -> [NSFetchIndexDescription] {
    var indexes: [NSFetchIndexDescription] = []
    for child in element.children("attribute") where child.flag("indexed") {
      if let property = entity.propertiesByName[child.text("name") ?? ""] { indexes.append(index([property])) }
    }
    return indexes
  }

  /// The indexes of several properties, as in models from before Xcode 9.
  private func compoundIndexes() -> [NSFetchIndexDescription] {
    var indexes: [NSFetchIndexDescription] = []
    for compound in element.children("compoundIndexes").flatMap(\.children) {
      let properties = compound.assuming("the index is left out", try properties(compound.children("index")))
      if let properties { indexes.append(index(properties)) }
    }
    return indexes
  }

  /// An ascending index, named after its properties.
  private func index(_ properties: [NSPropertyDescription]) -> NSFetchIndexDescription {
    NSFetchIndexDescription(
      name: "by" + properties.map { $0.name.prefix(1).uppercased() + $0.name.dropFirst() }.joined(),
      elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
  }

  private func uniquenessConstraints() -> [[Any]] {
    var constraints: [[Any]] = []
    for constraint in element.children("uniquenessConstraints").flatMap(\.children) {
      let parts = constraint.children("constraint")
      if let properties = constraint.assuming("the constraint is left out", try properties(parts)) {
        constraints.append(properties.map(\.name))
      }
    }
    return constraints
  }

  /// The properties that the elements name in their attribute `value`.
  private func properties(_ parts: [ModelElement]) throws(ModelFileError) -> [NSPropertyDescription] {
    var properties: [NSPropertyDescription] = []
    for part in parts { properties.append(try property("value", of: part)) }
    return properties
  }

  /// The property that an element names in one of its XML attributes.
  private func property(_ attribute: String, of child: ModelElement) throws(ModelFileError) -> NSPropertyDescription {
    let name = try child.required(attribute)
    guard let property = entity.propertiesByName[name] else {
      throw child.error("\"\(entity.name ?? "")\" has no property \"\(name)\"")
    }
    return property
  }
}
