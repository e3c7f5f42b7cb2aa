/// The value of a field, as far as it can be decoded without the model.
package indirect enum StoredValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case float(Float)
  case string(String)
  case data([UInt8])
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  case uuid(RowReference)
  /// As a text.
  case decimal(String)
  case uri(String)
  case object(ObjectReference)
  /// The output of a value transformer.
  case transformed([UInt8])
  case composite([Element])
  /// The URI of an object.
  case identifier(String)

  package struct Element: Hashable, Sendable {
    package let name: String
    package let value: StoredValue
  }

  package init(_ field: Field, in bytes: [UInt8]) throws(RowDamage) {
    try self.init(field, in: bytes, depth: 0)
  }

  private init(_ field: Field, in bytes: [UInt8], depth: Int) throws(RowDamage) {
    self =
      switch field.type {
      case .null: .null
      case .falsity: .bool(false)
      case .truth: .bool(true)
      case .integer: .integer(try field.integer(in: bytes))
      case .double: .double(try field.double(in: bytes))
      case .float: .float(try field.float(in: bytes))
      case .string: .string(try field.text(in: bytes))
      case .data: .data(Array(bytes[field.range]))
      case .date: .date(try field.double(in: bytes))
      case .uuid: .uuid(.uuid(bytes[field.range].reduce(0 as UInt128) { $0 << 8 | UInt128($1) }))
      case .decimal: .decimal(try field.text(in: bytes))
      case .uri: .uri(try field.text(in: bytes))
      case .object: try Self.object(field, bytes)
      case .transformed: .transformed(Array(try field.transformed(in: bytes)))
      case .composite: .composite(try Self.elements(field, bytes, depth))
      case .identifier: .identifier(try field.text(in: bytes))
      }
  }

  private static func object(_ field: Field, _ bytes: [UInt8]) throws(RowDamage) -> StoredValue {
    try field.object(in: bytes).map { .object($0) } ?? .null
  }

  private static func elements(_ field: Field, _ bytes: [UInt8], _ depth: Int) throws(RowDamage) -> [Element] {
    try field.check(depth: depth)
    var input = ByteInput(bytes, field.range)
    var elements: [Element] = []
    for _ in 0..<(try input.count()) {
      let name = try input.text()
      let part = try input.field(try input.type())
      elements.append(Element(name: name, value: try StoredValue(part, in: bytes, depth: depth + 1)))
    }
    try input.requireEnd()
    return elements
  }
}
