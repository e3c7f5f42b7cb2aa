import Foundation

/// Core Data's part of the example: stores packages, versions, maintainers and sections as a graph, which is compared
/// with the parsed files after each step.
struct ObjectsDemonstration {
  let files: [PackageFile]
  let parsed: ParsedCatalogue
  let store: String
  /// The package to ask about.
  let package: String
  /// Whether any store may be replaced.
  let replace: Bool

  func run() throws -> ObjectsReport {
    let url = URL(filePath: store)
    let created = try ObjectStore.create(at: url, replacing: replace)
    var importer = GraphImporter()
    let (_, importSeconds) = try timed {
      try ProgressBar.during(
        "Importing objects", total: files.reduce(0) { $0 + $1.size }, counting: "stanzas"
      ) { progress in try importer.run(files, into: created, progress: progress) }
    }
    let indexBytes = created.indexBytes

    let (reopened, reopenSeconds) = try timed {
      try created.close()
      let reopened = try ObjectStore(at: url)
      _ = try reopened.work { try $0.anyVersion()?.number }
      return reopened
    }
    let bytesOnDisk = diskUsage(of: store)
    let walk = try Walk(reopened)
    var checks = try Check.all(of: reopened, "imported", against: parsed)
    checks.append(
      Check(
        "dependents of the package with the most dependents", expected: parsed.dependents().values.max() ?? 0,
        found: walk.largestNode?.dependents ?? 0))
    let queries = try reopened.work { try GraphQueries($0, about: package, parsed: parsed) }
    let conflict = try Conflict(reopened)
    checks += queries.checks + (conflict?.checks ?? [])

    var rest = parsed
    let (deletion, deletionSeconds) = try timed {
      try ProgressBar.during("Deleting", total: (parsed.packages.count + 9) / 10, counting: "packages") { progress in
        try Deletion(from: reopened, progress: progress)
      }
    }
    rest.remove(deletion.names)
    checks += try Check.all(of: reopened, "after deletion", against: rest)

    let bytesBefore = reopened.logBytes
    let (_, compactionSeconds) = try timed { try reopened.compact() }
    let bytesAfter = reopened.logBytes
    try reopened.close()
    let compacted = try ObjectStore(at: url)
    checks += try Check.all(of: compacted, "after compaction", against: rest)
    try compacted.close()

    let objects = parsed.packages.count + parsed.versions.count + parsed.maintainers.count + parsed.sections.count
    return ObjectsReport(
      imported: ObjectsReport.Import(
        packages: parsed.packages.count, versions: parsed.versions.count, maintainers: parsed.maintainers.count,
        sections: parsed.sections.count, objects: objects, dependencies: parsed.edges, saves: importer.saves,
        seconds: importSeconds, objectsPerSecond: Double(objects) / importSeconds,
        dependenciesPerSecond: Double(parsed.edges) / importSeconds, bytesOnDisk: bytesOnDisk, indexBytes: indexBytes),
      reading: ObjectsReport.Reading(
        reopenSeconds: reopenSeconds, faultsPerSecond: walk.faults.perSecond, toOnePerSecond: walk.toOne.perSecond,
        toManyPerSecond: walk.toMany.perSecond, largestNode: walk.largestNode),
      answers: ObjectsReport.Answers(
        queries: queries.queries, sections: queries.sections, sectionsSeconds: queries.sectionsSeconds),
      conflict: conflict.map { ObjectsReport.Conflict(package: $0.package, number: $0.number) },
      deleted: ObjectsReport.Deletion(
        packages: deletion.names.count, versions: parsed.versions.count - rest.versions.count,
        dependencies: parsed.edges - rest.edges, seconds: deletionSeconds),
      compacted: ObjectsReport.Compaction(
        bytesBefore: bytesBefore, bytesAfter: bytesAfter, seconds: compactionSeconds),
      checks: checks, store: store)
  }
}
