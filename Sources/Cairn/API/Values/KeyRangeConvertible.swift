/// A value that stands for keys from one bound to another: a ``KeyRange``, or one of Swift's ranges of keys.
///
///     try planets.rows("a"..<"m")
///     try orders.rows(Key(customer, 0)...)
///     try moons.rows(.prefix(["Mars"]))
///
/// Swift's `..<` and `...` end the program if their bounds are the wrong way round. For bounds that come from data, use
/// ``KeyRange/init(from:to:)``.
public protocol KeyRangeConvertible {
  /// The range.
  var keyRange: KeyRange { get }
}

extension KeyRange: KeyRangeConvertible {
  /// The range itself.
  public var keyRange: KeyRange { self }
}

extension KeyRangeConvertible where Self == KeyRange {
  /// Every key.
  public static var all: KeyRange { KeyRange.all }

  /// The keys that begin with the given one.
  public static func prefix(_ key: some KeyConvertible) -> KeyRange { KeyRange.prefix(key) }

  /// The given key and all keys after it, of any kind.
  public static func from(_ key: some KeyConvertible) -> KeyRange { KeyRange.from(key) }

  /// All keys after the given one, of any kind.
  public static func after(_ key: some KeyConvertible) -> KeyRange { KeyRange.after(key) }

  /// All keys before the given one, of any kind.
  public static func before(_ key: some KeyConvertible) -> KeyRange { KeyRange.before(key) }

  /// The given key and all keys before it, of any kind.
  public static func through(_ key: some KeyConvertible) -> KeyRange { KeyRange.through(key) }
}

extension Range: KeyRangeConvertible where Bound: KeyConvertible {
  /// From the lower bound up to the upper one, which is excluded; empty if the order of ``Key`` has the bounds the other
  /// way round.
  public var keyRange: KeyRange { KeyRange(from: lowerBound, to: upperBound) }
}

extension ClosedRange: KeyRangeConvertible where Bound: KeyConvertible {
  /// Both bounds and all between them.
  public var keyRange: KeyRange { KeyRange(from: lowerBound, through: upperBound) }
}

extension PartialRangeFrom: KeyRangeConvertible where Bound: KeyConvertible {
  /// The given key and all keys after it, of any kind.
  public var keyRange: KeyRange { .from(lowerBound) }
}

extension PartialRangeUpTo: KeyRangeConvertible where Bound: KeyConvertible {
  /// All keys before the given one, of any kind.
  public var keyRange: KeyRange { .before(upperBound) }
}

extension PartialRangeThrough: KeyRangeConvertible where Bound: KeyConvertible {
  /// The given key and all keys before it, of any kind.
  public var keyRange: KeyRange { .through(upperBound) }
}
