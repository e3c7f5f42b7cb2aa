import Foundation
import OpenCoreData
import Testing

@Suite("Damaged model files")
struct DamagedFileTests {
  private static let texts = [
    "Library.xcdatamodeld/Library 2.xcdatamodel", "Fleet.xcdatamodel", "Diary.xcdatamodeld/Diary.xcdatamodel",
    "Attic.xcdatamodeld/Attic.xcdatamodel",
  ]

  private func lines(_ path: String) throws -> [Substring] {
    try String(contentsOf: Fixtures.models.appending(path: path).appending(path: "contents"), encoding: .utf8)
      .split(separator: "\n")
  }

  /// Returns whether a model of this text is refused, which must happen with a reason; nothing else may happen.
  @discardableResult
  private func isRefused(_ text: String) -> Bool {
    do {
      try Fixtures.read(text)
      return false
    } catch {
      #expect((error as? ModelFileError)?.reason.isEmpty == false, "\(error)")
      return true
    }
  }

  @Test("A model file that lacks a line is refused, or read as the rest.", arguments: texts)
  func missingLine(path: String) throws {
    let lines = try lines(path)
    for index in lines.indices.dropFirst(2).dropLast() {
      var rest = lines
      rest.remove(at: index)
      isRefused(rest.joined(separator: "\n"))
    }
  }

  @Test("A model file that is cut off anywhere is refused.", arguments: texts)
  func truncated(path: String) throws {
    let text = try lines(path).joined(separator: "\n")
    for length in stride(from: 0, to: text.count - 8, by: 101) { #expect(isRefused(String(text.prefix(length)))) }
  }

  @Test("A model file with one value emptied or replaced is refused or read.", arguments: texts)
  func otherValues(path: String) throws {
    let text = try lines(path).joined(separator: "\n")
    for value in text.matches(of: /"[^"]*"/) {
      for other in ["\"\"", "\"-1\""] { isRefused(text.replacingCharacters(in: value.range, with: other)) }
    }
  }
}
