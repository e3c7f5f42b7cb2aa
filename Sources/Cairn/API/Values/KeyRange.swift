/// The keys from one bound to another, in the order of ``Key``.
///
/// Making a range allocates two small arrays. Scanning one takes a search for its beginning, and from there on touches
/// only the rows in it.
///
///     KeyRange(10...20)
///     KeyRange.prefix("Berlin/")
///     KeyRange.prefix([.integer(7)])      // tuples that begin with 7
///     KeyRange("a"..<"b")
public struct KeyRange: Sendable, Hashable {
  /// The first encoded key that may be in the range.
  package let lower: [UInt8]
  /// The first encoded key past the range; nil if the range has no end.
  package let upper: [UInt8]?

  package init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// Every key.
  public static let all = KeyRange(lower: [], upper: nil)

  /// The keys that begin with the given one: strings with a string, bytes with bytes, tuples with all elements of
  /// a tuple, each as a whole. For an integer or a UUID, only that key itself.
  public static func prefix(_ key: Key) -> KeyRange {
    let encoded = key.encoded
    return switch key {
    case .integer, .uuid: KeyRange(lower: encoded, upper: encoded + [0])
    case .string, .bytes: KeyRange(lower: encoded, upper: pastAll(beginningWith: encoded))
    // A further element begins with its type, which is below 0xFF; 0xFF would continue the last element.
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

  /// The given key and all keys after it, of any kind.
  public static func from(_ key: Key) -> KeyRange { KeyRange(lower: key.encoded, upper: nil) }

  /// All keys after the given one, of any kind: for continuing a scan that stopped there.
  public static func after(_ key: Key) -> KeyRange { KeyRange(lower: key.encoded + [0], upper: nil) }

  /// All keys before the given one, of any kind.
  public static func before(_ key: Key) -> KeyRange { KeyRange(lower: [], upper: key.encoded) }

  /// The given key and all keys before it, of any kind.
  public static func through(_ key: Key) -> KeyRange { KeyRange(lower: [], upper: key.encoded + [0]) }

  /// From the lower bound up to the upper one, which is excluded.
  public init(_ range: Range<Key>) {
    self.init(lower: range.lowerBound.encoded, upper: range.upperBound.encoded)
  }

  /// Both bounds and all between them.
  public init(_ range: ClosedRange<Key>) {
    self.init(lower: range.lowerBound.encoded, upper: range.upperBound.encoded + [0])
  }

  /// As ``from(_:)``.
  public init(_ range: PartialRangeFrom<Key>) { self = .from(range.lowerBound) }

  /// As ``before(_:)``.
  public init(_ range: PartialRangeUpTo<Key>) { self = .before(range.upperBound) }

  /// As ``through(_:)``.
  public init(_ range: PartialRangeThrough<Key>) { self = .through(range.upperBound) }
}
