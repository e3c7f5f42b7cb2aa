import OpenCoreData
import Testing

@Suite struct FuzzTests {
  @Test("Formats that fuzzing has found are refused or work.")
  func corpus() throws {
    let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Data/Fuzz/predicate")
    let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files { try FuzzedFormat.run(Array(Data(contentsOf: file))) }
  }

  private static let words = [
    "a", "b.c", "list", "$v", "$x", "1", "2.5", "'s'", "\"*\"", "%@", "%K", "%d", "AND", "OR", "NOT", "!", "&&", "||",
    "(",
    ")", "{", "}", "[", "]", ",", ".", "=", "!=", "<", ">=", "IN", "LIKE", "CONTAINS", "BEGINSWITH", "[cd]", "BETWEEN",
    "ANY", "ALL", "NONE", "+", "-", "*", "**", "/", "&", "|", "^", "~", "<<", "@count", ".@sum.a", "SUBQUERY(", "$x,",
    "CAST(", "'NSDate'", "TERNARY(", "sum(", "now()", "FIRST", "SELF", "nil", "TRUEPREDICATE", "#in", "UNION", "\\",
    "é", "\0",
  ]

  @Test("Strings of random words are refused or work.")
  func randomWords() throws {
    var random = SeededGenerator(seed: chooseSeed())
    for _ in 0..<20_000 {
      let words = (0..<Int.random(in: 0...15, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? ""
      }
      let format = words.joined(separator: Bool.random(using: &random) ? " " : "")
      do {
        try FuzzedFormat.run(Array(format.utf8))
      } catch {
        Issue.record("\(format): \(error)")
      }
    }
  }

  @Test("Random bytes, and formats with changed bytes, are refused or work.")
  func randomBytes() throws {
    var random = SeededGenerator(seed: chooseSeed())
    var predicates = RandomPredicates(seed: random.next())
    for round in 0..<4000 {
      var bytes = (0..<Int.random(in: 0..<30, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      if round % 2 == 0 {
        bytes = Array(predicates.predicate(depth: 2).formatText.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0x20...0x7f, using: &random)
        }
      }
      do {
        try FuzzedFormat.run(bytes)
      } catch {
        Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(error)")
      }
    }
  }
}
