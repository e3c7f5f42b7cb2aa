import Hashing

/// The key that a row has for a uniqueness constraint: STORE-FORMAT.md, section 6.
package enum UniqueKey {
  /// Keys with more bytes are stored as their hash.
  package static let longest = 200
  package static let hashLength = 32

  /// - Parameters:
  ///   - attributes: The numbers of the constraint's attributes, in its order.
  ///   - normalized: Returns a text in normalisation form C, for which the standard library has no API. Not called for
  ///     texts that are certain to be in it.
  /// - Returns: Nil if one of the values is nil or not a number: such rows never conflict.
  package static func key(
    of attributes: [UInt32], in row: [UInt8], normalized: (String) -> String
  ) throws(RowDamage) -> [UInt8]? {
    try values(of: attributes, in: row, normalized).map(stored)
  }

  private static func stored(_ values: [UInt8]) -> [UInt8] {
    guard values.count > longest else { return values }
    var hash = SHA256()
    hash.update(values)
    return hash.finish()
  }

  private static func values(
    of attributes: [UInt32], in row: [UInt8], _ normalized: (String) -> String
  ) throws(RowDamage) -> [UInt8]? {
    var output = ByteOutput(capacity: 32)
    for attribute in attributes {
      guard let field = try FieldReader.field(attribute, of: row), field.type != .null else { return nil }
      output.byte(field.type.rawValue)
      switch field.type {
      case .string:
        let text = try field.text(in: row)
        output.text(text.isCertainlyNormalized ? text : normalized(text))
      case .double, .date:
        let value = try field.double(in: row)
        guard !value.isNaN else { return nil }
        output.fixed((value == 0 ? 0 : value).bitPattern)
      case .float:
        let value = try field.float(in: row)
        guard !value.isNaN else { return nil }
        output.fixed((value == 0 ? 0 : value).bitPattern)
      case .decimal where try field.text(in: row) == "NaN": return nil
      default: output.value(field, of: row)
      }
    }
    return output.bytes
  }

  /// The values of the attributes in a key; nil if the key is not such values but a hash.
  package static func values(in key: [UInt8], _ count: Int) -> [StoredValue]? {
    var input = ByteInput(key)
    var values: [StoredValue] = []
    do throws(RowDamage) {
      for _ in 0..<count { values.append(try StoredValue(try input.field(try input.type()), in: key)) }
      try input.requireEnd()
    } catch {
      return nil
    }
    return values
  }
}

extension String {
  /// Characters below U+0300 neither change nor combine in form C, so that texts of such characters are already in it.
  var isCertainlyNormalized: Bool { unicodeScalars.allSatisfy { $0.value < 0x300 } }
}
