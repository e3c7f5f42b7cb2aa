import Testing

@testable import catalogue

@Suite("The report's words")
struct ReportTests {
  @Test("The report prints numbers with units.") func numbers() {
    #expect([0, 999, 1000, 65_484].map(\.grouped) == ["0", "999", "1,000", "65,484"])
    #expect([1_000_000, -1234].map(\.grouped) == ["1,000,000", "-1,234"])
    #expect([512, 2048, 53_791_949].map(\.asBytes) == ["512 bytes", "2.0 KiB", "51.3 MiB"])
    #expect([0.000012, 0.0381, 1.923].map(\.asTime) == ["12 µs", "38.1 ms", "1.92 s"])
  }

  @Test("The report aligns its columns.") func columns() {
    #expect(Style(isPlain: true).line("Reads", "5/s", "") == "  Reads      5/s")
    #expect(Style(isPlain: false).bold("x") == "\u{1B}[1mx\u{1B}[0m")
  }
}
