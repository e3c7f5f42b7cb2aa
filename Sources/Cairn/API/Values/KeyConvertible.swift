/// A value that can be the key of a row: a ``Key``, a string, a number, or an array of such values, which is a tuple.
///
///     try planets.get("Mars")
///     try moons.get(["Mars", "Phobos"])
///     try orders.get(Key(customer, 17))
///     try blobs.get(Key.bytes(hash))
///
/// A type of your own conforms by making a ``Key`` of itself. Two values that are not equal must make different keys.
public protocol KeyConvertible: SendableMetatype {
  /// The key.
  var key: Key { get }
}

extension Key: KeyConvertible {
  /// The key itself.
  @inlinable
  public var key: Key { self }

  /// The key of a value: `Key(name)` is `.string(name)`.
  @inlinable
  public init(_ value: some KeyConvertible) { self = value.key }

  /// A tuple: `Key(city, number)` is `.tuple([.string(city), .integer(number)])`.
  @inlinable
  public init<each Element: KeyConvertible>(
    _ first: some KeyConvertible, _ second: some KeyConvertible, _ others: repeat each Element
  ) {
    var elements = [first.key, second.key]
    for other in repeat each others { elements.append(other.key) }
    self = .tuple(elements)
  }
}

extension Key {
  /// A ``bytes(_:)`` with a copy of the bytes of a span. ``Keyspace/withValue(bytes:_:)`` and
  /// ``Keyspace/put(_:bytes:expecting:in:)`` need no copy.
  public init(copying bytes: RawSpan) { self = unsafe .bytes(bytes.withUnsafeBytes { unsafe Array($0) }) }
}

extension String: KeyConvertible {
  /// A ``Key/string(_:)``.
  @inlinable
  public var key: Key { .string(self) }
}

extension Substring: KeyConvertible {
  /// A ``Key/string(_:)``.
  @inlinable
  public var key: Key { .string(String(self)) }
}

extension Int: KeyConvertible {
  /// A ``Key/integer(_:)``.
  @inlinable
  public var key: Key { .integer(Int64(self)) }
}

extension Int64: KeyConvertible {
  /// A ``Key/integer(_:)``.
  @inlinable
  public var key: Key { .integer(self) }
}

extension Int32: KeyConvertible {
  /// A ``Key/integer(_:)``.
  @inlinable
  public var key: Key { .integer(Int64(self)) }
}

extension UInt32: KeyConvertible {
  /// A ``Key/integer(_:)``.
  @inlinable
  public var key: Key { .integer(Int64(self)) }
}

extension Double: KeyConvertible {
  /// A ``Key/double(_:)``.
  @inlinable
  public var key: Key { .double(self) }
}

extension Array: KeyConvertible where Element: KeyConvertible {
  /// A ``Key/tuple(_:)``.
  @inlinable
  public var key: Key { .tuple(map(\.key)) }
}
