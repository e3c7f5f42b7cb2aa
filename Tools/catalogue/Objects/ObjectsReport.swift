/// The results of Core Data's part.
struct ObjectsReport: Encodable {
  struct Import: Encodable {
    let packages: Int
    let versions: Int
    let maintainers: Int
    let sections: Int
    let objects: Int
    let dependencies: Int
    let saves: Int
    let seconds: Double
    let objectsPerSecond: Double
    let dependenciesPerSecond: Double
    let bytesOnDisk: Int
    let indexBytes: Int
  }

  struct Reading: Encodable {
    let reopenSeconds: Double
    let faultsPerSecond: Double
    let toOnePerSecond: Double
    let toManyPerSecond: Double
    let largestNode: Walk.LargestNode?
  }

  struct Answers: Encodable {
    let queries: [GraphQueries.Query]
    let sections: [GraphQueries.Section]
    let sectionsSeconds: Double
  }

  struct Conflict: Encodable {
    let package: String
    let number: String
  }

  struct Deletion: Encodable {
    let packages: Int
    let versions: Int
    let dependencies: Int
    let seconds: Double
  }

  struct Compaction: Encodable {
    let bytesBefore: Int
    let bytesAfter: Int
    let seconds: Double
  }

  let imported: Import
  let reading: Reading
  let answers: Answers
  let conflict: Conflict?
  let deleted: Deletion
  let compacted: Compaction
  let checks: [Check]
  let store: String

  var holds: Bool { checks.allSatisfy(\.holds) }

  func sections(_ style: Style) -> [[String]] {
    [
      [style.bold("As objects in Core Data, stored in the engine")],
      importLines(style), readingLines(style), answerLines(style), changeLines(style), checkLines(style),
    ]
  }

  private func importLines(_ style: Style) -> [String] {
    let stored = max(imported.objects + imported.dependencies, 1)
    return [
      style.line(
        "Stored", "\(imported.versions.grouped) versions",
        "of \(imported.packages.grouped) packages, by \(imported.maintainers.grouped) maintainers, "
          + "in \(imported.sections.grouped) sections"),
      style.line("", "\(imported.dependencies.grouped) dependencies", "many-to-many, from versions to packages"),
      style.line(
        "", "\(imported.objects.grouped) objects in \(imported.seconds.asTime)",
        "\(Int(imported.objectsPerSecond).grouped) objects/s, "
          + "\(Int(imported.dependenciesPerSecond).grouped) dependencies/s, durable"),
      style.line(
        "On disk", imported.bytesOnDisk.asBytes,
        "\((imported.bytesOnDisk / stored).grouped) bytes per object or dependency"),
      style.line(
        "In memory", imported.indexBytes.asBytes,
        "\((imported.indexBytes / stored).grouped) bytes each, the engine's index"),
    ]
  }

  private func readingLines(_ style: Style) -> [String] {
    var lines = [
      style.line("Reopen", reading.reopenSeconds.asTime, "close, open, first fetch"),
      style.line("Faults", "\(Int(reading.faultsPerSecond).grouped)/s", "versions one by one, in random order"),
      style.line("To-one", "\(Int(reading.toOnePerSecond).grouped)/s", "their packages, maintainers and sections"),
      style.line("To-many", "\(Int(reading.toManyPerSecond).grouped)/s", "members of their dependencies"),
    ]
    if let node = reading.largestNode {
      lines.append(
        style.line(
          node.package, "\(node.dependents.grouped) dependents",
          "\(node.faultSeconds.asTime) to fire; \(node.searchSeconds.asTime) to find the package with the most"))
    }
    return lines
  }

  private func answerLines(_ style: Style) -> [String] {
    let queries = answers.queries.enumerated().map { index, query in
      style.line(
        index == 0 ? "Predicates" : "",
        "\(query.count.grouped) \(query.entity.lowercased())\(query.count == 1 ? "" : "s")",
        "\(query.seconds.asTime): \(query.predicate)")
    }
    let largest = answers.sections.prefix(4).map { "\($0.name) \($0.versions.grouped)" }
    let list = largest.joined(separator: ", ") + (answers.sections.count > largest.count ? ", …" : "")
    let seconds = answers.sectionsSeconds.asTime
    return queries + [
      style.line(
        "Grouping", "\(answers.sections.count.grouped) sections", list.isEmpty ? seconds : "\(seconds): \(list)")
    ]
  }

  private func changeLines(_ style: Style) -> [String] {
    var lines: [String] = []
    if let conflict {
      lines.append(
        style.line(
          "Conflict", conflict.package,
          "\(conflict.number) changed in two contexts; mergeByPropertyObjectTrump saves both"))
    }
    return lines + [
      style.line(
        "Deleted", "\(deleted.packages.grouped) packages",
        "and by cascade \(deleted.versions.grouped) versions with \(deleted.dependencies.grouped) dependencies, "
          + "in \(deleted.seconds.asTime)"),
      style.line(
        "Compacted", "\(compacted.bytesBefore.asBytes) → \(compacted.bytesAfter.asBytes)",
        "in \(compacted.seconds.asTime), the engine's log"),
    ]
  }

  private func checkLines(_ style: Style) -> [String] {
    guard !holds else { return [style.line("", "✓ \(checks.count.grouped) facts match the files", "")] }
    return checks.filter { !$0.holds }.map { check in
      style.line("", "✗ \(check.fact): \(check.found), NOT \(check.expected)", "")
    }
  }
}
