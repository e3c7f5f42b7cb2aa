import Foundation

/// Reads attributes. Composite attributes refer to the composites of the file.
struct AttributeReader {
  let composites: [String: ModelElement]

  func attribute(_ element: ModelElement) throws(ModelFileError) -> NSAttributeDescription {
    try attribute(element, inside: [])
  }

  /// - Parameter inside: the names of the composites that contain the attribute, to detect a composite that contains
  ///   itself.
  private func attribute(
    _ element: ModelElement, inside names: Set<String>
  ) throws(ModelFileError) -> NSAttributeDescription {
    element.expect(["userInfo"])
    let type = try element.choice("attributeType", Self.types) ?? .undefinedAttributeType
    let attribute = try blank(element, type, names)
    try attribute.describe(element)
    attribute.attributeType = type
    attribute.attributeValueClassName = element.text("customClassName")
    attribute.valueTransformerName = element.text("valueTransformerName")
    attribute.allowsExternalBinaryDataStorage = element.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = element.flag("preserveAfterDeletion")
    attribute.defaultValue = AttributeValue(element, type).defaultValue()
    let rules = AttributeBounds(element, type).rules()
    attribute.setValidation(rules.map(\.predicate), warnings: rules.map(\.code))
    return attribute
  }

  /// An attribute of the class that the element requires.
  private func blank(
    _ element: ModelElement, _ type: NSAttributeType, _ names: Set<String>
  ) throws(ModelFileError) -> NSAttributeDescription {
    if type == .compositeAttributeType {
      let composite = NSCompositeAttributeDescription()
      composite.elements = try elements(of: element, inside: names)
      return composite
    }
    guard element.flag("derived") else { return NSAttributeDescription() }
    let derived = NSDerivedAttributeDescription()
    derived.derivationExpression = element.assuming(
      "no value is derived", try element.expression("derivationExpression"))
    return derived
  }

  private func elements(
    of element: ModelElement, inside names: Set<String>
  ) throws(ModelFileError) -> [NSAttributeDescription] {
    let name = try element.required("composite")
    guard let composite = composites[name] else { throw element.error("there is no composite \"\(name)\"") }
    guard !names.contains(name) else { throw element.error("the composite \"\(name)\" contains itself") }
    guard names.count < Self.mostLevels else {
      throw element.error("the composite \"\(name)\" is more than \(Self.mostLevels) levels deep")
    }
    composite.expect(["attribute", "userInfo"])
    var elements: [NSAttributeDescription] = []
    for child in composite.children("attribute") { elements.append(try attribute(child, inside: names.union([name]))) }
    guard elements.reduce(0, { $0 + $1.elementsAndSelf.count }) <= Self.mostElements else {
      throw composite.error("the composite \"\(name)\" has more than \(Self.mostElements) elements, with those inside")
    }
    return elements
  }

  // A few composites that contain each other several times would be expanded to any number of elements.
  private static let mostLevels = 30
  private static let mostElements = 1000

  static let types: [String: NSAttributeType] = [
    "Undefined": .undefinedAttributeType, "Integer 16": .integer16AttributeType,
    "Integer 32": .integer32AttributeType, "Integer 64": .integer64AttributeType, "Decimal": .decimalAttributeType,
    "Double": .doubleAttributeType, "Float": .floatAttributeType, "String": .stringAttributeType,
    "Boolean": .booleanAttributeType, "Date": .dateAttributeType, "Binary": .binaryDataAttributeType,
    "UUID": .UUIDAttributeType, "URI": .URIAttributeType, "Transformable": .transformableAttributeType,
    "ObjectID": .objectIDAttributeType, "Composite": .compositeAttributeType,
  ]
}
