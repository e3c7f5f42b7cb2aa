/// The value of a field, as far as it can be decoded without the model.
public indirect enum StoredValue: Hashable, Sendable {
  /// No value.
  case null
  /// A boolean value.
  case bool(Bool)
  /// A whole number of any size.
  case integer(Int64)
  /// A double.
  case double(Double)
  /// A float.
  case float(Float)
  /// A text.
  case string(String)
  /// Binary data.
  case data([UInt8])
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  /// A UUID, as a reference of that kind.
  case uuid(RowReference)
  /// A decimal number as a text.
  case decimal(String)
  /// The text of a URI.
  case uri(String)
  /// The object to which a to-one relationship refers.
  case object(ObjectReference)
  /// The output of a value transformer.
  case transformed([UInt8])
  /// A composite value.
  case composite([Element])
  /// The URI of an object.
  case identifier(String)

  /// A part of a composite value.
  public struct Element: Hashable, Sendable {
    /// The name of the attribute.
    public let name: String
    /// Its value.
    public let value: StoredValue
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
