/// The results of the engine's part.
struct EngineReport: Encodable {
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

  /// An answer that is too long to print in full.
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

  let imported: Import
  let reading: Reading
  let answers: Answers
  let snapshot: Standstill
  let snapshotHolds: Bool
  let store: String

  func sections(_ style: Style) -> [[String]] {
    [
      [style.bold("As rows in the engine")],
      importLines(style), readingLines(style), answerLines(style), snapshotLines(style),
    ]
  }

  private func importLines(_ style: Style) -> [String] {
    [
      style.line(
        "Stored", "\(imported.packages.grouped) packages",
        "\(imported.dependencies.grouped) dependencies, in both directions"),
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
        title, name, "\(state.rows.grouped) rows, checksum \(state.checksum), \(state.amended.grouped) from import 2")
    }
    return [
      line("Snapshot", "before import 2", snapshot.snapshotBefore),
      style.line(
        "", "import 2",
        "updates \(snapshot.updatedRows.grouped) rows in \(snapshot.seconds.asTime), "
          + "the snapshot was read \(snapshot.readsMeanwhile.grouped) times"),
      line("", "after import 2", snapshot.snapshotAfter),
      line("Store", "after import 2", snapshot.store),
      style.line("", snapshotHolds ? "✓ the snapshot did not change" : "✗ THE SNAPSHOT CHANGED", ""),
    ]
  }
}
