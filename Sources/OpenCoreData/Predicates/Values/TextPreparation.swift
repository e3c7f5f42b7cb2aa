import Foundation

/// Prepares strings so that comparing their bytes compares them as the options of a predicate require.
///
/// Without options, a string is composed canonically: equal letters then have equal bytes, and the order of the bytes
/// is that of the scalars. A prefix of the bytes is a prefix for the predicate, so that an index in this order can
/// serve `BEGINSWITH`.
package struct TextPreparation {
  private let folding: String.CompareOptions
  /// Whether strings are compared scalar by scalar.
  let isExact: Bool
  private let locale: Locale?

  package init(_ options: NSComparisonPredicate.Options) {
    isExact = options.contains(.normalized)
    locale = options.contains(.localeSensitive) && !isExact ? .current : nil
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    self.folding = isExact ? [] : folding
  }

  /// Whether comparing strings without preparing them gives the same results.
  var isTrivial: Bool { folding.isEmpty && !isExact && locale == nil }

  /// Whether prepared strings are equal exactly if they are equal as `String`s, so that they can be found by their
  /// hashes.
  var hashesLikeStrings: Bool { !isExact }

  package func prepare(_ text: String) -> String {
    if isExact { return text }
    if text.isASCII && locale == nil {
      return folding.contains(.caseInsensitive) ? text.lowercased() : text
    }
    let folded = folding.isEmpty ? text : text.folding(options: folding, locale: locale)
    return folded.precomposedStringWithCanonicalMapping
  }

  /// The order of two prepared strings.
  func order(_ left: String, _ right: String) -> ComparisonResult {
    if let locale { return left.compare(right, locale: locale) }
    return isExact ? Self.scalarOrder(left, right) : ComparisonResult(left, right)
  }

  func equal(_ left: String, _ right: String) -> Bool {
    isExact ? left.utf8.elementsEqual(right.utf8) : left == right
  }

  private static func scalarOrder(_ left: String, _ right: String) -> ComparisonResult {
    if left.utf8.elementsEqual(right.utf8) { return .orderedSame }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? .orderedAscending : .orderedDescending
  }
}

extension String {
  /// Whether all scalars are ASCII: every other scalar has more UTF-8 bytes than UTF-16 units. Fast, because a string
  /// remembers whether it is ASCII.
  var isASCII: Bool { utf8.count == utf16.count }

  /// Whether the bytes of this string begin with those of another.
  func beginsWithBytes(of other: String) -> Bool { hasBytes(of: other, at: 0) }

  /// Whether the bytes of this string end with those of another.
  func endsWithBytes(of other: String) -> Bool { hasBytes(of: other, at: utf8.count - other.utf8.count) }

  private func hasBytes(of other: String, at offset: Int) -> Bool {
    let (bytes, sought) = (utf8.span, other.utf8.span)
    guard offset >= 0, bytes.count - offset >= sought.count else { return false }
    for index in sought.indices where bytes[offset + index] != sought[index] { return false }
    return true
  }

  /// Whether the bytes of another string are a contiguous part of this one's. Takes time in proportion to the product
  /// of the lengths at worst.
  func containsBytes(of other: String) -> Bool {
    guard let first = other.utf8.first else { return true }
    var rest = utf8[...]
    while let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: other.utf8) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
