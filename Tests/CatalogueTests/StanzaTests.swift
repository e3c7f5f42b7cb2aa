import Testing

@testable import catalogue

@Suite("Stanzas")
struct StanzaTests {
  private func stanzas(_ text: String, chunkSize: Int = .max) throws -> [Stanza] {
    var stanzas: [Stanza] = []
    var parser = StanzaParser(file: "test")
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let chunk = Array(rest.prefix(chunkSize))
      rest = rest.dropFirst(chunkSize)
      try parser.parse(chunk.span) { stanzas.append($0) }
    }
    try parser.finish { stanzas.append($0) }
    return stanzas
  }

  private func text(_ stanza: Stanza) -> String { String(decoding: stanza.bytes, as: UTF8.self) }

  @Test("A stanza keeps its bytes and finds its fields.")
  func fields() throws {
    let first = "Package: a\nTag: x,\n y\nDepends: b\n"
    let all = try stanzas("\n\n\(first)\n \n\nPackage: c\nEmpty:")
    #expect(all.count == 2)
    #expect(text(all[0]) == first)
    #expect(all[0].line == 3)
    #expect(all[0]["package"] == "a")
    #expect(all[0]["Tag"] == "x,\n y")
    #expect(all[0]["Nothing"] == nil)
    #expect(text(all[1]) == "Package: c\nEmpty:")
    #expect(all[1].line == 10)
    #expect(all[1]["Empty"] == "")
  }

  @Test("Lines of a stanza may end with carriage return and line feed.")
  func carriageReturns() throws {
    let all = try stanzas("Package: a\r\nTag: x,\r\n y\r\n\r\nPackage: b\r\n")
    #expect(all.map { $0["Package"] } == ["a", "b"])
    #expect(all[0]["Tag"] == "x,\r\n y")
    #expect(text(all[0]) == "Package: a\r\nTag: x,\r\n y\r\n")
  }

  @Test("The stanzas do not depend on where chunks of the file end.", arguments: 1...40)
  func chunks(size: Int) throws {
    let input = "Package: a\r\nTag: x,\n y\n\n\n\nPackage: b\nVersion: 1\n\nPackage: c"
    let whole = try stanzas(input)
    let pieces = try stanzas(input, chunkSize: size)
    #expect(pieces.map(\.bytes) == whole.map(\.bytes))
    #expect(pieces.map(\.line) == whole.map(\.line))
    #expect(pieces.map { $0["Package"] } == ["a", "b", "c"])
  }

  @Test("An empty file has no stanzas.", arguments: ["", "\n", " \n\t\r\n\n"])
  func nothing(input: String) throws {
    #expect(try stanzas(input).isEmpty)
  }

  @Test(
    "A malformed line is named in the error.",
    arguments: [
      ("Package: a\n\nnonsense\n", 3, StanzaError.Problem.noColon),
      ("Package: a\n\n continued\n", 3, .continuationWithoutField),
      ("Package: a\n: b\n", 2, .badFieldName),
      ("Package: a\nTwo words: b\n", 2, .badFieldName),
      ("Packäge: a", 1, .badFieldName),
      ("nonsense", 1, .noColon),
    ])
  func malformed(input: String, line: Int, problem: StanzaError.Problem) {
    #expect(throws: StanzaError(file: "test", line: line, problem: problem)) { try stanzas(input) }
  }

  @Test("A stanza without an end is refused.")
  func endless() {
    #expect(throws: StanzaError(file: "test", line: 1, problem: .tooLong)) {
      try stanzas("a:" + String(repeating: "b", count: StanzaParser.longestStanza), chunkSize: 1 << 20)
    }
  }

  @Test("The parser does not trap on any bytes.", arguments: 0..<200)
  func anyBytes(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    let alphabet = Array("ab: \t\r\n,|()\u{0}é".utf8) + [0xFF]
    let input = (0..<300).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return alphabet[Int(state >> 33) % alphabet.count]
    }
    var parser = StanzaParser(file: "test")
    func take(_ stanza: Stanza) throws { _ = try DebianPackage(stanza, file: "test") }
    do {
      try parser.parse(input.span, take)
      try parser.finish(take)
    } catch {
      #expect(error is StanzaError)
    }
  }

  @Test("Dependencies have alternatives, versions and architectures.")
  func dependencies() throws {
    let fields = """
      Package: a
      Version: 1
      Architecture: all
      Depends: b (>= 2), c | d:any [amd64],
       b (<< 3), ,
      Pre-Depends: e
      Recommends: f
      """
    let package = try DebianPackage(try #require(try stanzas(fields).first), file: "test")
    #expect(package.dependencies.map(\.target) == ["b", "c", "d", "e"])
    #expect(
      package.dependencies.map(\.relation) == [
        "Depends: b (>= 2)\nDepends: b (<< 3)", "Depends: c | d:any [amd64]", "Depends: c | d:any [amd64]",
        "Pre-Depends: e",
      ])
  }

  @Test("A stanza that is not a package is named by its first line.")
  func noPackage() throws {
    func error(_ input: String) throws -> StanzaError? {
      let stanza = try #require(try stanzas(input).last)
      do throws(StanzaError) { _ = try DebianPackage(stanza, file: "test") } catch { return error }
      return nil
    }
    #expect(try error("A: 1\n\nVersion: 1\n")?.description == "test:3: the stanza has no Package")
    #expect(try error("Package: a\nVersion:\n")?.problem == .missingField("Version"))
    #expect(try error("Package: a b\nVersion: 1\n")?.problem == .badValue(field: "Package", "a b"))
    let depends = "Package: a\nVersion: 1\nArchitecture: all\nDepends: b | (>= 1)\n"
    #expect(try error(depends)?.problem == .badValue(field: "Depends", "b | (>= 1)"))
  }
}
