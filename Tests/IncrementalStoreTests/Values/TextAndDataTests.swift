import CoreData
import Testing

@Suite("Texts and data that go through a store", .anyStore)
struct TextAndDataTests {
  @Test("strings have the same code units, empty ones and NUL among them")
  func strings() throws {
    let values = ["", " ", "\0", "a\0b\0", "Zo\u{EB}", "Zoe\u{308}", "👩‍👩‍👧", String(repeating: "ü", count: 100_000)]
    #expect(try Things(.string).afterwards(values).map { $0.map { Array($0.utf8) } } == values.map { Array($0.utf8) })
  }

  @Test("data are the same, empty and of 20 MB")
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
