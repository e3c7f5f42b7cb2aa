import Cairn
import CairnInspection
import Foundation
import Testing

/// The committed stores, which every later version has to be able to read.
@Suite struct FixtureTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let directory = tests.appending(path: "Data/Fixtures")

  private static func make(_ name: String) throws -> Fixtures.Files {
    switch name {
    case "example": try Fixtures.example()
    case "empty": try Fixtures.empty()
    case "compacted": try Fixtures.compacted()
    case "dictionary": try Fixtures.dictionary()
    case "retained": try Fixtures.retained()
    case "followed": try Fixtures.followed()
    default: try Fixtures.everything()
    }
  }

  /// `CAIRN_WRITE_FIXTURES=1 swift test --filter FixtureTests` writes the stores anew.
  private static let isWriting = ProcessInfo.processInfo.environment["CAIRN_WRITE_FIXTURES"] != nil

  @Test(
    "Each committed store has the rows of one made now.",
    arguments: ["example", "empty", "everything", "compacted", "dictionary", "retained", "followed"])
  func holdsTheSameRowsAsOneMadeNow(_ name: String) throws {
    let committed = Self.directory.appending(path: name)
    let made = try Self.make(name)
    if Self.isWriting { try Self.write(made, to: committed) }
    try withTemporaryDirectory { directory in
      let fresh = URL(filePath: directory).appending(path: name)
      try Self.write(made, to: fresh)
      let expected = try Self.rows(of: fresh.path())
      #expect(try Self.rows(of: committed.path()) == expected)
      #expect(expected.isEmpty == (name == "empty"))
    }
    let store = try Store.openForInspection(at: committed.path())
    #expect(store.statistics.dictionaries == (name == "dictionary" ? 1 : 0))
    #expect(store.changeReaders.map(\.isHeld) == (name == "followed" ? [false, true] : []))
    try store.close()
    let verification = try Verifier(at: committed.path()).run()
    #expect(verification.damage.isEmpty)
    #expect(verification.findings.contains { $0.kind == .tornTail } == (name == "everything"))
  }

  /// The expected output of the reader that was written from FORMAT.md is committed, too.
  @Test("Each committed store has the histories of one made now.") func historiesAreThoseOfOneMadeNow() throws {
    let expected = Self.tests.appending(path: "Scripts/FormatReader/retained.jsonl")
    try withTemporaryDirectory { directory in
      let fresh = URL(filePath: directory).appending(path: "retained")
      try Self.write(try Fixtures.retained(), to: fresh)
      let histories = try Self.histories(of: fresh.path())
      if Self.isWriting { try Data(histories.utf8).write(to: expected) }
      #expect(try Self.histories(of: Self.directory.appending(path: "retained").path()) == histories)
      #expect(try String(contentsOf: expected, encoding: .utf8) == histories)
    }
  }

  private static func histories(of path: String) throws -> String {
    let store = try Store.openForInspection(at: path)
    defer { try? store.close() }
    var lines = ""
    for keyspace in store.keyspaces {
      for number in 0..<40 as Range<Int64> {
        for version in try store.history(of: .integer(number), in: keyspace) {
          let value = version.value.map { "{\"text\":\"\(String(decoding: $0, as: UTF8.self))\"}" } ?? "null"
          lines += "{\"key\":{\"integer\":\(number)},\"value\":\(value),\"version\":\(version.version),"
          lines += "\"sequence\":\(version.sequence)}\n"
        }
      }
    }
    return lines
  }

  @Test("The example in FORMAT.md has the bytes that the engine writes.")
  func theDocumentedBytesAreTheOnesWritten() throws {
    let page = try String(
      contentsOf: Self.tests.deletingLastPathComponent().appending(path: "Documentation/FORMAT.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "## 12. ").last)
    let blocks = section.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) == false }
    var documented: [[UInt8]] = [[], []]
    try #require(blocks.count >= 2)
    // The first block is the manifest, the others are the segment.
    for (number, block) in blocks.map(\.element).enumerated() {
      for line in block.split(separator: "\n").dropFirst(0) where line.wholeMatch(of: /[0-9a-f]{4}  .*/) != nil {
        let file = number == 0 ? 0 : 1
        #expect(Int(line.prefix(4), radix: 16) == documented[file].count, "\(line)")
        let hex = line.dropFirst(6).firstMatch(of: /^([0-9a-f]{2} ?)+/)?.output.0 ?? ""
        documented[file] += hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
      }
    }
    let files = try Fixtures.example()
    #expect(documented[0] == files["MANIFEST"])
    #expect(documented[1] == files["0000000001.segment"])
    for (name, bytes) in files {
      #expect(try [UInt8](Data(contentsOf: Self.directory.appending(path: "example/\(name)"))) == bytes)
    }
  }

  static func write(_ files: Fixtures.Files, to directory: URL) throws {
    try? FileManager.default.removeItem(at: directory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (name, bytes) in files { try Data(bytes).write(to: directory.appending(path: name)) }
  }

  private static func rows(of path: String) throws -> [String: [Row]] {
    let store = try Store.openForInspection(at: path)
    defer { try? store.close() }
    var rows: [String: [Row]] = [:]
    for keyspace in store.keyspaces {
      rows[keyspace.name] = try store.snapshot().rows(in: keyspace).sorted { $0.key < $1.key }
    }
    return rows
  }
}
