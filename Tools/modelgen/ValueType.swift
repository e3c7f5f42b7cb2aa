import OpenCoreData

/// The Swift type of an attribute's values, as Xcode chooses it: a scalar if the model asks for one, else an optional
/// object.
struct ValueType {
  private enum Kind {
    case object
    /// With the value that stands for nil.
    case scalar(otherwise: String)
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
      (name, kind) = (scalar, .scalar(otherwise: attribute.type == .boolean ? "false" : "0"))
    } else {
      let given = attribute.type == .transformable ? attribute.attributeValueClassName : nil
      (name, kind) = (given ?? Self.objects[attribute.type] ?? "NSObject", .object)
    }
  }

  /// The type in the declaration.
  var declared: String {
    if case .object = kind { "\(name)?" } else { name }
  }

  /// An expression for the value of the attribute.
  func read(_ key: String) -> String {
    switch kind {
    case .object where hasAccessors: "attributeValue(forKey: \(key))"
    case .object: "value(forKey: \(key)) as! \(name)?"
    case .scalar(let otherwise): "attributeValue(forKey: \(key)) ?? \(otherwise)"
    case .interval: "(attributeValue(forKey: \(key)) as Date?)?.timeIntervalSinceReferenceDate ?? 0"
    }
  }

  /// A statement that sets the attribute to `newValue`.
  func write(_ key: String) -> String {
    switch kind {
    case .object where !hasAccessors: "setValue(newValue, forKey: \(key))"
    case .object, .scalar: "setAttributeValue(newValue, forKey: \(key))"
    case .interval: "setAttributeValue(Date(timeIntervalSinceReferenceDate: newValue), forKey: \(key))"
    }
  }

  /// Whether managed objects have methods for optional values of the type.
  private var hasAccessors: Bool { ["String", "Date", "Data", "UUID"].contains(name) }

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
