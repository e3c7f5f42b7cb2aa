import CoreData
import Testing

@Suite("Texts and data in a store", .anyStore)
struct TextAndDataTests {
  @Test("Strings are stored with the same code units, also empty ones and NUL.")
  func strings() throws {
    let values = ["", " ", "\0", "a\0b\0", "Zo\u{EB}", "Zoe\u{308}", "👩‍👩‍👧", String(repeating: "ü", count: 100_000)]
    #expect(try Things(.string).afterwards(values).map { $0.map { Array($0.utf8) } } == values.map { Array($0.utf8) })
  }

  @Test("Data are stored unchanged, from empty data to 20 MB.")
  func data() throws {
    let block = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
    let large = (0..<200).reduce(into: Data()) { data, _ in data += block }
    let found = try Things(.binaryData).afterwards([Data(), Data([0]), large])
    #expect(found[0] == Data() && found[1] == Data([0]))
    // Compare outside `#expect`, which would put two large values into its report.
    let isSame = found[2] == large
    #expect(isSame)
  }
}
