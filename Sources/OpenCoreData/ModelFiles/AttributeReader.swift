import Foundation

/// Reads attributes, with the composites of the file at hand.
struct AttributeReader {
  let composites: [String: ModelElement]

  func attribute(_ element: ModelElement) throws(ModelFileError) -> NSAttributeDescription {
    try attribute(element, inside: [])
  }

  /// - Parameter inside: the composites of which it is an element, to find one that contains itself.
  private func attribute(
    _ element: ModelElement, inside names: Set<String>
  ) throws(ModelFileError) -> NSAttributeDescription {
    try element.allow(["userInfo"])
    let type = try element.choice("attributeType", Self.types) ?? .undefinedAttributeType
    let attribute = try blank(element, type, names)
    try attribute.describe(element)
    attribute.attributeType = type
    attribute.attributeValueClassName = element.text("customClassName")
    attribute.valueTransformerName = element.text("valueTransformerName")
    attribute.allowsExternalBinaryDataStorage = try element.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = try element.flag("preserveAfterDeletion")
    attribute.defaultValue = try AttributeValue(element, type).defaultValue()
    let rules = try AttributeBounds(element, type).rules()
    attribute.setValidation(rules.map(\.predicate), warnings: rules.map(\.code))
    return attribute
  }

  /// An attribute of the class the element asks for.
  private func blank(
    _ element: ModelElement, _ type: NSAttributeType, _ names: Set<String>
  ) throws(ModelFileError) -> NSAttributeDescription {
    if type == .compositeAttributeType {
      let composite = NSCompositeAttributeDescription()
      composite.elements = try elements(of: element, inside: names)
      return composite
    }
    guard try element.flag("derived") else { return NSAttributeDescription() }
    let derived = NSDerivedAttributeDescription()
    derived.derivationExpression = try element.expression("derivationExpression")
    return derived
  }

  private func elements(
    of element: ModelElement, inside names: Set<String>
  ) throws(ModelFileError) -> [NSAttributeDescription] {
    let name = try element.required("composite")
    guard let composite = composites[name] else { throw element.error("there is no composite \"\(name)\"") }
    guard !names.contains(name) else { throw element.error("the composite \"\(name)\" contains itself") }
    try composite.allow(["attribute", "userInfo"])
    var elements: [NSAttributeDescription] = []
    for child in composite.children("attribute") { elements.append(try attribute(child, inside: names.union([name]))) }
    return elements
  }

  static let types: [String: NSAttributeType] = [
    "Undefined": .undefinedAttributeType, "Integer 16": .integer16AttributeType,
    "Integer 32": .integer32AttributeType, "Integer 64": .integer64AttributeType, "Decimal": .decimalAttributeType,
    "Double": .doubleAttributeType, "Float": .floatAttributeType, "String": .stringAttributeType,
    "Boolean": .booleanAttributeType, "Date": .dateAttributeType, "Binary": .binaryDataAttributeType,
    "UUID": .UUIDAttributeType, "URI": .URIAttributeType, "Transformable": .transformableAttributeType,
    "ObjectID": .objectIDAttributeType, "Composite": .compositeAttributeType,
  ]
}
