import Cairn

/// The engine's part of the example: stores the packages and their dependencies as rows.
struct EngineDemonstration {
  let files: [PackageFile]
  let store: String
  /// The package to ask about.
  let package: String
  /// Whether any store may be replaced.
  let replace: Bool

  private var fileBytes: Int { files.reduce(0) { $0 + $1.size } }

  func run() async throws -> EngineReport {
    let created = try CatalogueStore.create(at: store, replacing: replace)
    let (tally, importSeconds) = try timed {
      try ProgressBar.during("Importing", total: fileBytes, counting: "stanzas") { progress in
        try Importer(catalogue: created).run(files, progress: progress)
      }
    }

    let (catalogue, reopenSeconds) = try timed {
      try created.store.close()
      let catalogue = try CatalogueStore.open(at: store)
      _ = try catalogue.packages.count(.prefix([package]))
      return catalogue
    }
    defer { try? catalogue.store.close() }
    let bytesOnDisk = diskUsage(of: store)
    let measurements = try Measurements(catalogue)
    let answers = try answers(from: catalogue)
    let (packages, dependencies) = try catalogue.store.read { snapshot in
      (try catalogue.packages.count(at: snapshot), try catalogue.depends.count(at: snapshot))
    }
    let standstill = try await standstill(catalogue)

    return EngineReport(
      imported: EngineReport.Import(
        packages: packages, dependencies: dependencies, rowsWritten: tally.rows, batches: tally.batches,
        seconds: importSeconds, rowsPerSecond: Double(tally.rows) / importSeconds, bytesOnDisk: bytesOnDisk),
      reading: EngineReport.Reading(
        reopenSeconds: reopenSeconds, readsPerSecond: measurements.reads.perSecond,
        prefixScansPerSecond: measurements.prefixScans.perSecond),
      answers: answers, snapshot: standstill, snapshotHolds: standstill.holds, store: store)
  }

  private func answers(from catalogue: CatalogueStore) throws -> EngineReport.Answers {
    try catalogue.store.read { snapshot in
      let queries = Queries(snapshot: snapshot, catalogue: catalogue)
      let (versions, versionsSeconds) = try timed { try queries.versions(of: package) }
      let (dependents, dependentsSeconds) = try timed { try queries.dependents(of: package) }
      let (names, namesSeconds) = try timed { try queries.names(withPrefix: package) }
      return EngineReport.Answers(
        package: package, versions: versions, versionsSeconds: versionsSeconds,
        dependents: EngineReport.Names(dependents, seconds: dependentsSeconds),
        namesWithPrefix: EngineReport.Names(names, seconds: namesSeconds))
    }
  }

  private func standstill(_ catalogue: CatalogueStore) async throws -> Standstill {
    var bar = ProgressBar("Importing again", total: fileBytes)
    defer { bar.finish() }
    return try await Standstill(catalogue, files: files) { done, stanzas in
      bar.update(done, note: "\(stanzas.grouped) stanzas")
    }
  }
}
