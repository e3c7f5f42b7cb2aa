public import Cairn
public import Foundation

/// A value that can be the key of a row, and can be read from one again.
public protocol KeyCodable: KeyConvertible {
  /// The value of which this is the key; nil for a key of another kind.
  init?(key: Key)
}

extension UUID: KeyCodable {
  /// A `Key.uuid(_:)`. Such keys sort by the bytes of the UUIDs.
  public var key: Key {
    .uuid(unsafe withUnsafeBytes(of: uuid) { unsafe $0.reduce(0) { $0 << 8 | UInt128($1) } })
  }

  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .uuid(let number) = key else { return nil }
    self.init(number)
  }

  init(_ number: UInt128) {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &bytes) { bytes in
      for index in 0..<16 { unsafe bytes[index] = UInt8(truncatingIfNeeded: number >> (120 - 8 * index)) }
    }
    self.init(uuid: bytes)
  }
}

extension UUID {
  /// Nil unless there are 16 bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(bytes.reduce(0) { $0 << 8 | UInt128($1) })
  }
}

extension Date: KeyCodable {
  /// A `Key.double(_:)`: the seconds since the beginning of 2001. Such keys sort by time.
  public var key: Key { .double(timeIntervalSinceReferenceDate) }

  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .double(let seconds) = key else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

extension Data: KeyCodable {
  /// A `Key.bytes(_:)`.
  public var key: Key { .bytes([UInt8](self)) }

  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .bytes(let bytes) = key else { return nil }
    self.init(bytes)
  }
}

extension URL: KeyCodable {
  /// A `Key.string(_:)`: the absolute URL.
  public var key: Key { .string(absoluteString) }

  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .string(let text) = key else { return nil }
    self.init(string: text)
  }
}

extension String: KeyCodable {
  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .string(let text) = key else { return nil }
    self = text
  }
}

extension Int: KeyCodable {
  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .integer(let number) = key else { return nil }
    self.init(exactly: number)
  }
}

extension Int64: KeyCodable {
  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .integer(let number) = key else { return nil }
    self = number
  }
}

extension Double: KeyCodable {
  /// Nil for a key of another kind.
  public init?(key: Key) {
    guard case .double(let number) = key else { return nil }
    self = number
  }
}

extension Key: KeyCodable {
  /// The key itself.
  public init?(key: Key) { self = key }
}
