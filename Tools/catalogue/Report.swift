import Foundation

/// What a run found out, as text for people or as one JSON object.
struct Report: Encodable {
  struct Input: Encodable {
    let files: [String]
    let fileBytes: Int
    let stanzas: Int
    let stanzaBytes: Int
  }

  struct Import: Encodable {
    let packages: Int
    let dependencies: Int
    let rowsWritten: Int
    let batches: Int
    let seconds: Double
    let rowsPerSecond: Double
    let bytesOnDisk: Int
  }

  struct Reading: Encodable {
    let reopenSeconds: Double
    let readsPerSecond: Double
    let prefixScansPerSecond: Double
  }

  struct Answers: Encodable {
    let package: String
    let versions: [Queries.Version]
    let versionsSeconds: Double
    let dependents: Names
    let namesWithPrefix: Names
  }

  /// An answer that is too long to tell in full.
  struct Names: Encodable {
    let count: Int
    let first: [String]
    let seconds: Double

    init(_ names: [String], seconds: Double) {
      count = names.count
      first = Array(names.prefix(4))
      self.seconds = seconds
    }
  }

  let input: Input
  let imported: Import
  let reading: Reading
  let answers: Answers
  let snapshot: Standstill
  let snapshotHolds: Bool
  let store: String
  let inspectWith: String

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  func text(_ style: Style) -> String {
    let sections = [
      [style.bold("Cairn · the Debian package catalogue as a key-value store")],
      importLines(style), readingLines(style), answerLines(style), snapshotLines(style), storeLines(style),
    ]
    return sections.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private func importLines(_ style: Style) -> [String] {
    [
      style.line(
        "Read", "\(input.files.count.grouped) \(input.files.count == 1 ? "file" : "files"), \(input.fileBytes.asBytes)",
        "\(input.stanzas.grouped) stanzas, \(input.stanzaBytes.asBytes)"),
      style.line(
        "Stored", "\(imported.packages.grouped) packages",
        "\(imported.dependencies.grouped) dependencies, both ways"),
      style.line(
        "", "\(imported.rowsWritten.grouped) rows in \(imported.seconds.asTime)",
        "\(Int(imported.rowsPerSecond).grouped) rows/s, durable"),
      style.line("On disk", imported.bytesOnDisk.asBytes, ""),
    ]
  }

  private func readingLines(_ style: Style) -> [String] {
    [
      style.line("Reopen", reading.reopenSeconds.asTime, "close, open, first read"),
      style.line("Reads", "\(Int(reading.readsPerSecond).grouped)/s", "stanzas by key, in random order"),
      style.line("Scans", "\(Int(reading.prefixScansPerSecond).grouped)/s", "all dependencies of a package"),
    ]
  }

  private func answerLines(_ style: Style) -> [String] {
    let versions = answers.versions.map { "\($0.version) \($0.architecture)" }
    let summary = answers.versions.first?.summary ?? "none"
    return [
      style.line(
        answers.package, versions.first ?? "no such package",
        "\(answers.versionsSeconds.asTime): \(([summary] + versions.dropFirst()).joined(separator: "; "))"),
      names("Needed by", answers.dependents, "packages", style),
      names("\(answers.package)…", answers.namesWithPrefix, "names", style),
    ]
  }

  private func names(_ title: String, _ names: Names, _ what: String, _ style: Style) -> String {
    let list = names.first.joined(separator: ", ") + (names.count > names.first.count ? ", …" : "")
    return style.line(
      title, "\(names.count.grouped) \(what)", names.seconds.asTime + (list.isEmpty ? "" : ": \(list)"))
  }

  private func snapshotLines(_ style: Style) -> [String] {
    func line(_ title: String, _ name: String, _ state: Standstill.State) -> String {
      style.line(
        title, name, "\(state.rows.grouped) rows, checksum \(state.checksum), \(state.amended.grouped) of import 2")
    }
    return [
      line("Snapshot", "before import 2", snapshot.snapshotBefore),
      style.line(
        "", "import 2",
        "updates \(snapshot.updatedRows.grouped) rows in \(snapshot.seconds.asTime), "
          + "the snapshot read \(snapshot.readsMeanwhile.grouped) times meanwhile"),
      line("", "after import 2", snapshot.snapshotAfter),
      line("Store", "after import 2", snapshot.store),
      style.line("", snapshotHolds ? "✓ the snapshot stood still" : "✗ THE SNAPSHOT MOVED", ""),
    ]
  }

  private func storeLines(_ style: Style) -> [String] {
    ["The store stays. To look inside:", "  \(style.bold(inspectWith))"]
  }
}

/// How the report looks: bold and dim on a terminal, plain elsewhere.
struct Style {
  let isPlain: Bool

  /// What suits the standard output.
  static var standardOutput: Style {
    let environment = ProcessInfo.processInfo.environment
    let isTerminal = isatty(STDOUT_FILENO) != 0 && environment["TERM"] != "dumb"
    return Style(isPlain: !isTerminal || !(environment["NO_COLOR"] ?? "").isEmpty)
  }

  func bold(_ text: String) -> String { isPlain ? text : "\u{1B}[1m\(text)\u{1B}[0m" }

  func dim(_ text: String) -> String { isPlain ? text : "\u{1B}[2m\(text)\u{1B}[0m" }

  /// A title, what matters, and a remark, in columns.
  func line(_ title: String, _ fact: String, _ remark: String) -> String {
    let line = "  \(title.padded(to: 10)) \(bold(remark.isEmpty ? fact : fact.padded(to: 28)))"
    return remark.isEmpty ? line : "\(line) \(dim(remark))"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }
}

extension Int {
  /// `65,484`
  var grouped: String {
    var digits = String(magnitude)
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits.removeLast(3)
    }
    groups.insert(digits[...], at: 0)
    return (self < 0 ? "-" : "") + groups.joined(separator: ",")
  }

  /// `51.3 MiB`
  var asBytes: String {
    var value = Double(self)
    var unit = "bytes"
    for larger in ["KiB", "MiB", "GiB"] where value >= 1024 {
      value /= 1024
      unit = larger
    }
    return unit == "bytes" ? "\(grouped) bytes" : "\(value.rounded(toPlaces: 1)) \(unit)"
  }
}

extension Double {
  /// `1.92 s`, `38.1 ms` or `12 µs`
  var asTime: String {
    switch self {
    case ..<0.001: "\(Int((self * 1_000_000).rounded()).grouped) µs"
    case ..<1: "\((self * 1000).rounded(toPlaces: 1)) ms"
    default: "\(rounded(toPlaces: 2)) s"
    }
  }

  fileprivate func rounded(toPlaces places: Int) -> Double {
    let scale = Double((0..<places).reduce(1) { product, _ in product * 10 })
    return (self * scale).rounded() / scale
  }
}
