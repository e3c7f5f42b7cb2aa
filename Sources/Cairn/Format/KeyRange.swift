/// The references from one bound to another, in the order of ``Reference``.
///
/// A range costs two small arrays to make and nothing to keep; scanning one costs a search for where it begins and then
/// only the rows in it.
///
///     KeyRange(10...20)
///     KeyRange.prefix("Berlin/")
///     KeyRange.prefix([.integer(7)])      // tuples that begin with 7
///     KeyRange("a"..<"b")
public struct KeyRange: Sendable, Hashable {
  /// The first encoded key that may be in the range.
  package let lower: [UInt8]
  /// The first encoded key past the range; nil if nothing is.
  package let upper: [UInt8]?

  package init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// Every reference.
  public static let all = KeyRange(lower: [], upper: nil)

  /// What begins with the given reference: strings with a string, bytes with bytes, tuples with a tuple's elements,
  /// each of them whole. An integer or a UUID begins nothing but itself.
  public static func prefix(_ reference: Reference) -> KeyRange {
    let encoded = reference.encoded
    return switch reference {
    case .integer, .uuid: KeyRange(lower: encoded, upper: encoded + [0])
    case .string, .bytes: KeyRange(lower: encoded, upper: pastAll(beginningWith: encoded))
    // A further element begins with its type; 0xFF would continue the last one.
    case .tuple: KeyRange(lower: encoded, upper: encoded + [0xFF])
    }
  }

  private static func pastAll(beginningWith bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    while result.last == 0xFF { result.removeLast() }
    // There is at least the type, which is not 0xFF.
    result[result.count - 1] += 1
    return result
  }

  /// The given reference and all after it, of whatever kind.
  public static func from(_ reference: Reference) -> KeyRange { KeyRange(lower: reference.encoded, upper: nil) }

  /// All after the given reference, of whatever kind: where a scan goes on that stopped there.
  public static func after(_ reference: Reference) -> KeyRange { KeyRange(lower: reference.encoded + [0], upper: nil) }

  /// All before the given reference, of whatever kind.
  public static func before(_ reference: Reference) -> KeyRange { KeyRange(lower: [], upper: reference.encoded) }

  /// The given reference and all before it, of whatever kind.
  public static func through(_ reference: Reference) -> KeyRange { KeyRange(lower: [], upper: reference.encoded + [0]) }

  /// From the lower bound up to, and without, the upper one.
  public init(_ range: Range<Reference>) {
    self.init(lower: range.lowerBound.encoded, upper: range.upperBound.encoded)
  }

  /// Both bounds and all between them.
  public init(_ range: ClosedRange<Reference>) {
    self.init(lower: range.lowerBound.encoded, upper: range.upperBound.encoded + [0])
  }

  /// As ``from(_:)``.
  public init(_ range: PartialRangeFrom<Reference>) { self = .from(range.lowerBound) }

  /// As ``before(_:)``.
  public init(_ range: PartialRangeUpTo<Reference>) { self = .before(range.upperBound) }

  /// As ``through(_:)``.
  public init(_ range: PartialRangeThrough<Reference>) { self = .through(range.upperBound) }
}
