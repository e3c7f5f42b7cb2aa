import Foundation
import Testing

@Suite("The coverage table")
struct CoverageTests {
  private struct Row {
    let symbol: String
    let state: String
    var exists: Bool { state == "done" || state.hasPrefix("partial: ") }
  }

  private static let table = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Documentation/COVERAGE.md").standardizedFileURL

  private func rows() throws -> [Row] {
    try String(contentsOf: Self.table, encoding: .utf8).split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /\| `(.+?)` \| (.+) \|/).map { Row(symbol: String($0.1), state: String($0.2)) }
    }
  }

  /// The public symbols of the module and of what it extends, such as `NSEntityDescription.isKindOf(entity:)`. The
  /// `fileID` parameter, which callers do not write, is left out.
  private func interface() throws -> Set<String> {
    struct Graph: Decodable {
      struct Symbol: Decodable {
        let pathComponents: [String]
      }
      let symbols: [Symbol]
    }
    let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try Fixtures.withFolder { folder in
      let extraction = Process()
      extraction.executableURL = URL(filePath: "/usr/bin/env")
      extraction.arguments = [
        "swift-symbolgraph-extract", "-module-name", "OpenCoreData", "-minimum-access-level", "public",
        "-I", tests.appending(path: "Modules").path, "-I", tests.appending(path: "CObjectLifetime.build").path,
        "-output-dir", folder.path,
      ]
      try extraction.run()
      extraction.waitUntilExit()
      try #require(extraction.terminationStatus == 0)
      let graphs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      return Set(
        try graphs.flatMap { try JSONDecoder().decode(Graph.self, from: Data(contentsOf: $0)).symbols }
          .map { $0.pathComponents.joined(separator: ".").replacing("fileID:", with: "") })
    }
  }

  @Test("The coverage table has every symbol once, with a known state.")
  func states() throws {
    let rows = try rows()
    #expect(rows.count == 969)
    #expect(Set(rows.map(\.symbol)).count == rows.count)
    for row in rows {
      #expect(
        row.exists || row.state == "not yet" || row.state.hasPrefix("absent: "), "\(row.symbol): \(row.state)")
    }
  }

  @Test("The coverage table says of exactly the implemented symbols that they exist.")
  func truth() throws {
    let interface = try interface()
    let rows = try rows()
    for row in rows {
      #expect(interface.contains(row.symbol) == row.exists, "\(row.symbol): \(row.state)")
    }
    let unlisted = interface.filter { !$0.contains(".") }.subtracting(rows.map(\.symbol))
    #expect(unlisted.isEmpty)
  }
}
