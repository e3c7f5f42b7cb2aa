import ArgumentParser
import Foundation

/// The example program: stores the machine's own Debian package catalogue, as rows and as objects, and reports the
/// results.
@main
struct Catalogue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "Stores a Debian package catalogue twice, queries it, and reports how fast that was.",
    discussion: """
      Reads the catalogues that apt keeps under \(PackageFile.aptLists), or those given with --input, as text or as \
      LZ4 frames of text.

      As rows in the engine: stores the packages and their dependencies in both directions, opens the store again, \
      answers queries, and shows a snapshot that does not change while a second import updates rows.

      As objects in Core Data: stores packages, versions, maintainers, sections and dependencies as a graph, opens the \
      store again, follows relationships, answers queries, resolves a conflict, deletes a tenth of the packages, and \
      compacts the store. The result of each step is compared with the files.

      The stores are not removed at the end.

      Exit status: 0 success, 1 a store failed or is wrong, 2 an input cannot be read, 64 wrong arguments.
      """)

  @Option(
    parsing: .upToNextOption, help: ArgumentHelp("Catalogues to read instead of the machine's.", valueName: "file"))
  var input: [String] = []

  @Option(
    help: ArgumentHelp(
      "The store for the rows; the objects are stored in `dir`-objects. Replaces earlier catalogues in both.",
      valueName: "dir"))
  var store = "catalogue.cairn"

  @Option(help: ArgumentHelp("The package to query.", valueName: "name"))
  var package = "libc6"

  @Flag(help: "Replace stores even if this program didn't write them.")
  var replace = false

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard !store.isEmpty else { throw ValidationError("--store requires the name of a directory.") }
    guard !package.isEmpty else { throw ValidationError("--package requires a name.") }
  }

  func run() async throws {
    let report: Report
    do {
      let files = try input.isEmpty ? PackageFile.ofThisMachine() : input.map { try PackageFile($0) }
      report = try await self.report(on: files)
    } catch {
      // Errors of Core Data are Foundation's.
      let text = type(of: error) == NSError.self ? error.localizedDescription : "\(error)"
      FileHandle.standardError.write(Data("catalogue: \(text)\n".utf8))
      throw ExitCode(error is PackageFileError || error is StanzaError ? 2 : 1)
    }
    print(json ? try report.json() : report.text(.standardOutput))
    guard report.holds else { throw ExitCode.failure }
  }

  private func report(on files: [PackageFile]) async throws -> Report {
    let fileBytes = files.reduce(0) { $0 + $1.size }
    let parsed = try ProgressBar.during("Reading", total: fileBytes, counting: "stanzas") { progress in
      try ParsedCatalogue(files, progress: progress)
    }
    let engine = EngineDemonstration(files: files, store: store, package: package, replace: replace)
    let objects = ObjectsDemonstration(
      files: files, parsed: parsed, store: "\(URL(filePath: store).relativePath)-objects", package: package,
      replace: replace)
    return Report(
      input: Report.Input(
        files: files.map(\.path), fileBytes: fileBytes, stanzas: parsed.stanzas, stanzaBytes: parsed.stanzaBytes),
      engine: try await engine.run(), objects: try objects.run(),
      inspectWith: [engine.store, objects.store].map { "\(Self.inspector) \($0)" })
  }

  /// The command for looking into stores: the `kvdump` beside this program, if there is one.
  private static var inspector: String {
    let own = CommandLine.arguments.first ?? ""
    let sibling = URL(filePath: own).deletingLastPathComponent().appending(path: "kvdump").relativePath
    let isThere = own.contains("/") && FileManager.default.isExecutableFile(atPath: sibling)
    return isThere ? sibling : "swift run -c release kvdump"
  }
}
