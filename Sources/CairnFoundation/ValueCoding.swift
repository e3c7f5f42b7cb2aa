public import Cairn
import Foundation

/// How values of a type become the bytes of rows, and are read again.
public struct ValueCoding<Value: Sendable>: Sendable {
  let encode: @Sendable (Value) throws -> [UInt8]
  let decode: @Sendable ([UInt8]) throws -> Value

  /// A coding of your own. Errors that the closures throw are thrown by the methods that write and read values.
  public init(
    encode: @escaping @Sendable (Value) throws -> [UInt8], decode: @escaping @Sendable ([UInt8]) throws -> Value
  ) {
    (self.encode, self.decode) = (encode, decode)
  }

  /// The value of a row.
  /// - Throws: `malformed` if the bytes are no such value.
  func value(_ bytes: [UInt8], at key: Key, of keyspace: Keyspace) throws(StoreError) -> Value {
    do {
      return try decode(bytes)
    } catch {
      throw StoreError(.malformed, "the value of \(key) in \(keyspace.name) is no \(Value.self): \(error)")
    }
  }
}

extension ValueCoding where Value: Codable {
  /// JSON with sorted keys, and dates as seconds since the beginning of 2001: anybody can read such values, `kvdump`
  /// shows them as text, and properties may be added as optionals.
  public static var json: ValueCoding {
    ValueCoding(
      encode: { value in
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
      }, decode: { try JSONDecoder().decode(Value.self, from: Data($0)) })
  }

  /// CBOR (RFC 8949): about half the bytes of JSON. Fields are numbered if the coding keys are numbers, which takes a byte
  /// a field and lets properties be renamed:
  ///
  ///     enum CodingKeys: Int, CodingKey { case title = 1, folder = 2 }
  ///
  /// A number must never be used for another property. Fields that are not known are skipped.
  public static var compact: ValueCoding {
    ValueCoding(
      encode: { try CompactEncoder().encode($0) }, decode: { try CompactDecoder().decode(Value.self, from: $0) })
  }
}

extension ValueCoding where Value: RowValue {
  /// The bytes of the values themselves.
  public static var bytes: ValueCoding {
    ValueCoding(
      encode: { value in
        try value.withRowBytes { (bytes) throws(StoreError) in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
      },
      decode: { bytes in
        try unsafe bytes.withUnsafeBytes { try unsafe Value(rowBytes: $0.bytes) }
      })
  }
}
