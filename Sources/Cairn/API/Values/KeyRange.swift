/// The keys from one bound to another, in the order of ``Key``.
///
/// Making a range allocates two small arrays. Scanning one takes a search for its beginning, and from there on touches
/// only the rows in it.
///
///     KeyRange(10...20)
///     KeyRange("a"..<"b")
///     KeyRange.prefix("Berlin/")
///     KeyRange.prefix([7])      // tuples that begin with 7
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
  /// a tuple, each as a whole. For a number or a UUID, only that key itself.
  public static func prefix(_ key: some KeyConvertible) -> KeyRange {
    let key = key.key
    let encoded = key.encoded
    return switch key {
    case .integer, .double, .uuid: KeyRange(lower: encoded, upper: encoded + [0])
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
  public static func from(_ key: some KeyConvertible) -> KeyRange { all.from(key) }

  /// All keys after the given one, of any kind: for continuing a scan that stopped there.
  public static func after(_ key: some KeyConvertible) -> KeyRange { all.after(key) }

  /// All keys before the given one, of any kind.
  public static func before(_ key: some KeyConvertible) -> KeyRange { all.before(key) }

  /// The given key and all keys before it, of any kind.
  public static func through(_ key: some KeyConvertible) -> KeyRange { all.through(key) }

  /// From the lower bound up to the upper one, which is excluded. Empty if they are the wrong way round.
  public init(from lower: some KeyConvertible, to upper: some KeyConvertible) {
    self = KeyRange.from(lower).before(upper)
  }

  /// Both bounds and all between them. Empty if they are the wrong way round.
  public init(from lower: some KeyConvertible, through upper: some KeyConvertible) {
    self = KeyRange.from(lower).through(upper)
  }

  /// One of Swift's ranges.
  public init(_ range: some KeyRangeConvertible) { self = range.keyRange }
}

/// Parts of a range: for reading a range page by page.
///
///     let page = try notes.rows(KeyRange.prefix(folder).after(lastKey), limit: 20)
extension KeyRange {
  /// The part of the range from the given key on.
  public func from(_ key: some KeyConvertible) -> KeyRange { cut(lower: key.key.encoded) }

  /// The part of the range after the given key.
  public func after(_ key: some KeyConvertible) -> KeyRange { cut(lower: key.key.encoded + [0]) }

  /// The part of the range before the given key.
  public func before(_ key: some KeyConvertible) -> KeyRange { cut(upper: key.key.encoded) }

  /// The part of the range up to the given key, which is included.
  public func through(_ key: some KeyConvertible) -> KeyRange { cut(upper: key.key.encoded + [0]) }

  private func cut(lower: [UInt8]? = nil, upper: [UInt8]? = nil) -> KeyRange {
    var (first, end) = (self.lower, self.upper)
    if let lower, first.lexicographicallyPrecedes(lower) { first = lower }
    if let upper, end.map({ upper.lexicographicallyPrecedes($0) }) ?? true { end = upper }
    if let end, !first.lexicographicallyPrecedes(end) { return KeyRange(lower: [], upper: []) }
    return KeyRange(lower: first, upper: end)
  }
}
