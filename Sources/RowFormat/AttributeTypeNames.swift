extension Schema {
  /// The name that Xcode uses for the type.
  package static func attributeTypeName(_ type: UInt32) -> String {
    switch type {
    case 0: "Undefined"
    case 100: "Integer 16"
    case 200: "Integer 32"
    case 300: "Integer 64"
    case 400: "Decimal"
    case 500: "Double"
    case 600: "Float"
    case 700: "String"
    case 800: "Boolean"
    case 900: "Date"
    case 1000: "Binary Data"
    case 1100: "UUID"
    case 1200: "URI"
    case 1800: "Transformable"
    case 2000: "Object ID"
    case 2100: "Composite"
    default: "\(type)"
    }
  }
}
