import ArgumentParser
import Cairn
import Foundation

/// The example: stores the machine's own Debian package catalogue and reports how that went.
@main
struct Catalogue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "Stores a Debian package catalogue, asks it questions, and reports how fast that was.",
    discussion: """
      Reads the catalogues that apt keeps under \(PackageFile.aptLists), or those given with --input: text, or the \
      same as LZ4 frames. Stores the packages and their dependencies both ways, opens the store again, answers \
      queries, and shows a snapshot that stands still while a second import updates rows. The store stays.

      Exit status: 0 done, 1 the store failed, 2 an input cannot be read, 64 wrong arguments.
      """)

  @Option(
    parsing: .upToNextOption, help: ArgumentHelp("Catalogues to read instead of the machine's.", valueName: "file"))
  var input: [String] = []

  @Option(help: ArgumentHelp("Where the store goes; an earlier catalogue there is replaced.", valueName: "dir"))
  var store = "catalogue.cairn"

  @Option(help: ArgumentHelp("The package to ask about.", valueName: "name"))
  var package = "libc6"

  @Flag(help: "Replace the store even if this program didn't write it.")
  var replace = false

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard !store.isEmpty else { throw ValidationError("--store needs the name of a directory.") }
    guard !package.isEmpty else { throw ValidationError("--package needs a name.") }
  }

  func run() async throws {
    do {
      let files = try input.isEmpty ? PackageFile.ofThisMachine() : input.map { try PackageFile($0) }
      let report = try await report(on: files)
      print(json ? try report.json() : report.text(.standardOutput))
      guard report.snapshotHolds else { throw SnapshotMoved() }
    } catch {
      FileHandle.standardError.write(Data("catalogue: \(error)\n".utf8))
      throw ExitCode(error is PackageFileError || error is StanzaError ? 2 : 1)
    }
  }

  private func report(on files: [PackageFile]) async throws -> Report {
    let fileBytes = files.reduce(0) { $0 + $1.size }

    let created = try CatalogueStore.create(at: store, replacing: replace)
    let (tally, importSeconds) = try timed {
      try withBar("Importing", fileBytes) { progress in try Importer(catalogue: created).run(files, progress: progress)
      }
    }

    let (catalogue, reopenSeconds) = try timed {
      try created.store.close()
      let catalogue = try CatalogueStore.open(at: store)
      _ = try catalogue.store.read { try $0.count(.prefix(.tuple([.string(package)])), in: catalogue.packages) }
      return catalogue
    }
    defer { try? catalogue.store.close() }
    let bytesOnDisk = diskUsage(of: store)
    let measurements = try Measurements(catalogue)
    let answers = try answers(from: catalogue)
    let (packages, dependencies) = try catalogue.store.read { snapshot in
      (try snapshot.count(in: catalogue.packages), try snapshot.count(in: catalogue.depends))
    }
    let standstill = try await standstill(catalogue, files, fileBytes)

    return Report(
      input: Report.Input(
        files: files.map(\.path), fileBytes: fileBytes, stanzas: tally.stanzas, stanzaBytes: tally.textBytes),
      imported: Report.Import(
        packages: packages, dependencies: dependencies, rowsWritten: tally.rows, batches: tally.batches,
        seconds: importSeconds, rowsPerSecond: Double(tally.rows) / importSeconds, bytesOnDisk: bytesOnDisk),
      reading: Report.Reading(
        reopenSeconds: reopenSeconds, readsPerSecond: measurements.reads.perSecond,
        prefixScansPerSecond: measurements.prefixScans.perSecond),
      answers: answers, snapshot: standstill, snapshotHolds: standstill.holds, store: store,
      inspectWith: "\(Self.inspector) \(store)")
  }

  private func answers(from catalogue: CatalogueStore) throws -> Report.Answers {
    try catalogue.store.read { snapshot in
      let queries = Queries(snapshot: snapshot, catalogue: catalogue)
      let (versions, versionsSeconds) = try timed { try queries.versions(of: package) }
      let (dependents, dependentsSeconds) = try timed { try queries.dependents(of: package) }
      let (names, namesSeconds) = try timed { try queries.names(withPrefix: package) }
      return Report.Answers(
        package: package, versions: versions, versionsSeconds: versionsSeconds,
        dependents: Report.Names(dependents, seconds: dependentsSeconds),
        namesWithPrefix: Report.Names(names, seconds: namesSeconds))
    }
  }

  private func standstill(_ catalogue: CatalogueStore, _ files: [PackageFile], _ bytes: Int) async throws -> Standstill
  {
    var bar = ProgressBar("Importing again", total: bytes)
    defer { bar.finish() }
    return try await Standstill(catalogue, files: files) { done, stanzas in
      bar.update(done, note: "\(stanzas.grouped) stanzas")
    }
  }

  private func withBar<Result>(
    _ title: String, _ total: Int, _ body: ((_ bytes: Int, _ stanzas: Int) -> Void) throws -> Result
  ) rethrows -> Result {
    var bar = ProgressBar(title, total: total)
    defer { bar.finish() }
    return try body { done, stanzas in bar.update(done, note: "\(stanzas.grouped) stanzas") }
  }

  private func timed<Result>(_ body: () throws -> Result) rethrows -> (result: Result, seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try body()
    return (result, (clock.now - start).inSeconds)
  }

  /// The program that looks into stores: the one beside this one, if it is there.
  private static var inspector: String {
    let own = CommandLine.arguments.first ?? ""
    let sibling = URL(filePath: own).deletingLastPathComponent().appending(path: "kvdump").relativePath
    let isThere = own.contains("/") && FileManager.default.isExecutableFile(atPath: sibling)
    return isThere ? sibling : "swift run -c release kvdump"
  }
}
