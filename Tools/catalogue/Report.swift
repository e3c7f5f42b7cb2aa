import Foundation

/// The results of a run, as text for people or as one JSON object.
struct Report: Encodable {
  struct Input: Encodable {
    let files: [String]
    let fileBytes: Int
    let stanzas: Int
    let stanzaBytes: Int
  }

  let input: Input
  let engine: EngineReport
  let objects: ObjectsReport
  /// The commands for looking into the stores.
  let inspectWith: [String]

  /// Whether all results were as expected.
  var holds: Bool { engine.snapshotHolds && objects.holds }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  func text(_ style: Style) -> String {
    let sections =
      [[style.bold("Cairn · the Debian package catalogue")], inputLines(style)]
      + engine.sections(style) + objects.sections(style) + [storeLines(style)]
    return sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private func inputLines(_ style: Style) -> [String] {
    let files = "\(input.files.count.grouped) \(input.files.count == 1 ? "file" : "files")"
    return [
      style.line(
        "Read", "\(files), \(input.fileBytes.asBytes)",
        "\(input.stanzas.grouped) stanzas, \(input.stanzaBytes.asBytes)")
    ]
  }

  private func storeLines(_ style: Style) -> [String] {
    ["The stores have not been removed. To inspect them:"] + inspectWith.map { "  \(style.bold($0))" }
  }
}
