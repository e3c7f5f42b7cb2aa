/// The key by which a row is found in its keyspace.
///
/// Keys have one order, which is the order of the rows in an ordered keyspace: numbers and UUIDs by value,
/// strings and bytes byte by byte with a prefix before anything longer, and tuples element by element. Integers come
/// before floating-point numbers, these before strings, strings before UUIDs, UUIDs before bytes, and bytes before
/// tuples.
///
/// Strings are compared by their UTF-8 bytes. Two strings that look the same but are encoded differently, such as a
/// composed and a decomposed accent, are different keys.
public enum Key: Sendable {
  /// A number. Takes 1 to 9 bytes in the log, the fewer the closer it is to zero.
  case integer(Int64)
  /// A floating-point number. Takes 9 bytes. The two zeros are the same key, and so is every NaN, which comes last.
  case double(Double)
  /// A text. Takes one byte more than its UTF-8.
  case string(String)
  /// A UUID as a number; the UUID's first byte is the most significant. Takes 17 bytes.
  case uuid(UInt128)
  /// Any bytes. Takes one byte more than their number.
  case bytes([UInt8])
  /// Several keys in a row, for keys of several columns. Takes one byte more than its elements. A string, bytes
  /// or a tuple inside it takes one byte more for its end; a string or bytes also one for each zero byte. Tuples nest
  /// at most 64 deep.
  case tuple([Key])
}

extension Key: Hashable {
  /// Equal in kind and, byte by byte, in content.
  public static func == (left: Key, right: Key) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left.orderedBits == right.orderedBits
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.uuid(let left), .uuid(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.tuple(let left), .tuple(let right)): left == right
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    switch self {
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.orderedBits)
    case .string(var text):
      text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(0xFF as UInt8)
    case .uuid(let value): hasher.combine(value)
    case .bytes(let bytes): hasher.combine(bytes)
    case .tuple(let elements): hasher.combine(elements)
    }
  }
}

extension Key: Comparable {
  /// Whether the left key comes before the right one in an ordered keyspace.
  public static func < (left: Key, right: Key) -> Bool { left.order(right) < 0 }

  /// Less than zero if this key comes first, more than zero if the other does. Looks at each element of a tuple
  /// once; comparing with `<` in both directions would look at it twice on every level.
  private func order(_ other: Key) -> Int {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.double(let left), .double(let right)):
      let (left, right) = (left.orderedBits, right.orderedBits)
      return left < right ? -1 : left == right ? 0 : 1
    case (.string(let left), .string(let right)): return Self.order(left.utf8, right.utf8)
    case (.uuid(let left), .uuid(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.bytes(let left), .bytes(let right)): return Self.order(left, right)
    case (.tuple(let left), .tuple(let right)):
      for (left, right) in zip(left, right) {
        let order = left.order(right)
        if order != 0 { return order }
      }
      return left.count - right.count
    default: return Int(rank) - Int(other.rank)
    }
  }

  private static func order(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
    if left.lexicographicallyPrecedes(right) { return -1 }
    return left.elementsEqual(right) ? 0 : 1
  }

  private var rank: UInt8 {
    switch self {
    case .integer: 0
    case .double: 1
    case .string: 2
    case .uuid: 3
    case .bytes: 4
    case .tuple: 5
    }
  }
}

extension Key: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral
{
  /// An ``integer(_:)``.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// A ``double(_:)``.
  public init(floatLiteral value: Double) { self = .double(value) }

  /// A ``string(_:)``.
  public init(stringLiteral value: String) { self = .string(value) }

  /// A ``tuple(_:)``.
  public init(arrayLiteral elements: Key...) { self = .tuple(elements) }
}

extension Key: CustomStringConvertible {
  /// For people: `42`, `d'1.5'`, `"text"`, `x'0a0b'`, `(1, "a")`, UUIDs in their usual form in lower case.
  public var description: String {
    switch self {
    case .integer(let value): "\(value)"
    case .double(let value): "d'\(value)'"
    case .string(let text): text.debugDescription
    case .uuid(let value): Self.canonical(value)
    case .bytes(let bytes): "x'\(bytes.map { Self.hex($0, digits: 2) }.joined())'"
    case .tuple(let elements): "(\(elements.map(\.description).joined(separator: ", ")))"
    }
  }

  private static func hex(_ value: some BinaryInteger, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }

  private static func canonical(_ uuid: UInt128) -> String {
    var rest = Substring(hex(uuid, digits: 32))
    return [8, 4, 4, 4, 12].map { length in
      defer { rest = rest.dropFirst(length) }
      return String(rest.prefix(length))
    }.joined(separator: "-")
  }
}
