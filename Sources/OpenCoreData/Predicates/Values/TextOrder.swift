import Foundation

extension ComparisonResult {
  /// The order of two texts by the scalars of their canonical compositions.
  ///
  /// That of the standard library is another one where one composition begins with the other and a text is not composed:
  /// "é" of two scalars is neither less nor greater than "és" there.
  init(_ left: String, _ right: String) {
    let areComposed = left.isComposed && right.isComposed
    let one = areComposed ? left : left.precomposedStringWithCanonicalMapping
    let other = areComposed ? right : right.precomposedStringWithCanonicalMapping
    self = one < other ? .orderedAscending : one == other ? .orderedSame : .orderedDescending
  }
}

extension String {
  /// Whether all scalars are of ranges in which each is its own composition and none is composed with another: U+0000
  /// to U+02FF, U+0400 to U+047F, and U+4000 to U+9FFF. Reads the bytes of a text that is not ASCII.
  fileprivate var isComposed: Bool { isASCII || utf8.allSatisfy(Self.mayBeginComposed) }

  /// Whether a byte is ASCII, continues a scalar, or begins one of the scalars that ``isComposed`` allows.
  private static func mayBeginComposed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00...0xBF, 0xC2...0xCB, 0xD0...0xD1, 0xE4...0xE9: true
    default: false
    }
  }
}
