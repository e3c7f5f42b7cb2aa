import Cairn
import Testing

@testable import catalogue

@Suite("Names with a prefix")
struct QueriesTests {
  private static let names = [
    "", "a", "a\u{D7FF}", "a\u{D7FF}b", "a\u{E000}", "a\u{10FFFF}", "a\u{10FFFF}\u{10FFFF}", "b", "libc", "libd",
    "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "\u{10FFFF}x",
  ]

  @Test("A query by prefix returns all names with that prefix.", arguments: names) func areAllThatHaveIt(prefix: String)
  {
    let range = Queries.range(ofNamesWithPrefix: prefix)
    for name in Self.names {
      let key = Key.tuple([.string(name), .string("all"), .string("1")]).encoded
      let isIn =
        !key.lexicographicallyPrecedes(range.lower) && range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
      #expect(isIn == name.unicodeScalars.starts(with: prefix.unicodeScalars), "\(name)")
    }
  }
}
