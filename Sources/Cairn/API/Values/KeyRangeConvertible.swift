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
  /// As ``KeyRange/all``.
  public static var all: KeyRange { KeyRange.all }

  /// As ``KeyRange/prefix(_:)``.
  public static func prefix(_ key: some KeyConvertible) -> KeyRange { KeyRange.prefix(key) }

  /// As ``KeyRange/from(_:)``.
  public static func from(_ key: some KeyConvertible) -> KeyRange { KeyRange.from(key) }

  /// As ``KeyRange/after(_:)``.
  public static func after(_ key: some KeyConvertible) -> KeyRange { KeyRange.after(key) }

  /// As ``KeyRange/before(_:)``.
  public static func before(_ key: some KeyConvertible) -> KeyRange { KeyRange.before(key) }

  /// As ``KeyRange/through(_:)``.
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
  /// As ``KeyRange/from(_:)``.
  public var keyRange: KeyRange { .from(lowerBound) }
}

extension PartialRangeUpTo: KeyRangeConvertible where Bound: KeyConvertible {
  /// As ``KeyRange/before(_:)``.
  public var keyRange: KeyRange { .before(upperBound) }
}

extension PartialRangeThrough: KeyRangeConvertible where Bound: KeyConvertible {
  /// As ``KeyRange/through(_:)``.
  public var keyRange: KeyRange { .through(upperBound) }
}
