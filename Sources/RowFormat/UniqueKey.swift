import Hashing

/// The key that a row has for a uniqueness constraint: STORE-FORMAT.md, section 6.
package enum UniqueKey {
  /// Keys with more bytes are stored as their hash.
  package static let longest = 200
  package static let hashLength = 32

  /// - Parameters:
  ///   - attributes: The numbers of the constraint's attributes, in its order.
  ///   - normalized: Returns a text in normalisation form C, for which the standard library has no API.
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
    var output = ByteOutput()
    for attribute in attributes {
      guard let field = try FieldReader.field(attribute, of: row), field.type != .null else { return nil }
      output.byte(field.type.rawValue)
      switch field.type {
      case .string: output.text(normalized(try field.text(in: row)))
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

  /// Whether a row has this key, for callers that cannot convert texts to normalisation form C: texts are compared as
  /// Swift compares them, by canonical equivalence.
  ///
  /// If a key is stored as a hash and a text of the row may not be in form C, the hash counts as right.
  package static func isKey(_ key: [UInt8], of attributes: [UInt32], in row: [UInt8]) throws(RowDamage) -> Bool {
    var isCertain = true
    let values = try values(of: attributes, in: row) { text in
      isCertain = isCertain && text.isCertainlyNormalized
      return text
    }
    guard let values else { return false }
    if stored(values) == key { return true }
    guard !isCertain else { return false }
    let parts = parts(of: key, attributes.count)
    if let parts, parts == Self.parts(of: values, attributes.count) { return true }
    // In form C, a text has at most three times as many bytes.
    return key.count == hashLength && values.count > longest / 3
  }

  /// The parts of a key, whose texts compare by canonical equivalence; nil if the bytes are not such parts but a hash.
  private static func parts(of key: [UInt8], _ count: Int) -> [KeyPart]? {
    var input = ByteInput(key)
    var parts: [KeyPart] = []
    do {
      for _ in 0..<count {
        let field = try input.field(try input.type())
        parts.append(
          field.type == .string ? .text(try field.text(in: key)) : .other(field.type, Array(key[field.range])))
      }
      try input.requireEnd()
    } catch {
      return nil
    }
    return parts
  }

  private enum KeyPart: Equatable {
    case text(String)
    case other(FieldType, [UInt8])
  }
}

extension String {
  /// Characters below U+0300 neither change nor combine in form C, so that texts of such characters are already in it.
  package var isCertainlyNormalized: Bool { unicodeScalars.allSatisfy { $0.value < 0x300 } }
}
