import RowFormat

/// Checks that a field holds a value that its property allows.
enum FieldCheck {
  /// The field types that an attribute may have besides null, by the raw value of its `NSAttributeType`; nil for
  /// unknown attribute types.
  private static func types(of attribute: UInt32) -> [FieldType]? {
    switch attribute {
    case 100, 200, 300: [.integer]
    case 400: [.decimal]
    case 500: [.double]
    case 600: [.float]
    case 700: [.string]
    case 800: [.falsity, .truth]
    case 900: [.date]
    case 1000: [.data]
    case 1100: [.uuid]
    case 1200: [.uri]
    case 1800: [.transformed]
    case 2000: [.identifier]
    case 2100: [.composite]
    default: nil
    }
  }

  static func check(_ field: Field, of property: Schema.Property, in bytes: [UInt8]) throws(RowDamage) {
    let isAllowed =
      switch property.kind {
      case .attribute(let type): types(of: type)?.contains(field.type) ?? true
      case .toOne: field.type == .object
      case .toMany: false
      }
    guard field.type == .null || isAllowed else {
      throw RowDamage("\(property.name) has a field of type \(field.type)", at: field.range.lowerBound)
    }
    try check(field, in: bytes, depth: 0)
  }

  /// Checks that the bytes are a value of the field's type.
  private static func check(_ field: Field, in bytes: [UInt8], depth: Int) throws(RowDamage) {
    switch field.type {
    case .null, .falsity, .truth, .double, .float, .data, .date, .uuid: break
    case .integer: _ = try field.integer(in: bytes)
    case .string, .decimal, .uri, .identifier: _ = try field.text(in: bytes)
    case .object: _ = try field.object(in: bytes)
    case .transformed: _ = try field.transformed(in: bytes)
    case .composite:
      try field.check(depth: depth)
      var input = ByteInput(bytes, field.range)
      for _ in 0..<(try input.count()) {
        _ = try input.text()
        try check(try input.field(try input.type()), in: bytes, depth: depth + 1)
      }
      try input.requireEnd()
    }
  }
}
