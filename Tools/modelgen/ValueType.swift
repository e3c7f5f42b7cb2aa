import OpenCoreData

/// The Swift type of an attribute's values, as Xcode chooses it: a scalar if the model asks for one, else an optional
/// object.
struct ValueType {
  private enum Kind {
    case object
    /// With the property of a number that has the value, cut off if it does not fit, and the value that stands for nil.
    case scalar(property: String, otherwise: String)
    case interval
  }

  private let name: String
  private let kind: Kind
  /// Whether the type is hashable, as an `id` must be.
  let isHashable: Bool

  init(_ attribute: NSAttributeDescription, isScalar: Bool) {
    isHashable = attribute.type != .composite && attribute.type != .transformable
    if isScalar, attribute.type == .date {
      (name, kind) = ("TimeInterval", .interval)
    } else if isScalar, let scalar = Self.scalars[attribute.type] {
      let property = "\(scalar.lowercased())Value"
      (name, kind) = (scalar, .scalar(property: property, otherwise: attribute.type == .boolean ? "false" : "0"))
    } else {
      let given = attribute.type == .transformable ? attribute.attributeValueClassName : nil
      (name, kind) = (given ?? Self.objects[attribute.type] ?? "NSObject", .object)
    }
  }

  /// The type in the declaration.
  var declared: String {
    if case .object = kind { "\(name)?" } else { name }
  }

  /// An expression that converts `source`, an `Any?`, to this type.
  func read(_ source: String) -> String {
    switch kind {
    case .object: "\(source) as! \(name)?"
    case .scalar(let property, let otherwise): "(\(source) as! NSNumber?)?.\(property) ?? \(otherwise)"
    case .interval: "(\(source) as! Date?)?.timeIntervalSinceReferenceDate ?? 0"
    }
  }

  /// An expression that converts `newValue` to the stored value.
  var written: String {
    if case .interval = kind { "Date(timeIntervalSinceReferenceDate: newValue)" } else { "newValue" }
  }

  private static let scalars: [NSAttributeDescription.AttributeType: String] = [
    .integer16: "Int16", .integer32: "Int32", .integer64: "Int64", .double: "Double", .float: "Float",
    .boolean: "Bool",
  ]

  private static let objects: [NSAttributeDescription.AttributeType: String] = [
    .integer16: "NSNumber", .integer32: "NSNumber", .integer64: "NSNumber", .double: "NSNumber",
    .float: "NSNumber", .boolean: "NSNumber", .decimal: "NSDecimalNumber", .string: "String", .date: "Date",
    .binaryData: "Data", .uuid: "UUID", .uri: "URL", .objectID: "NSManagedObjectID", .composite: "[String: Any]",
  ]
}
