#if !canImport(Darwin)
  import ArgumentParser
  import Cairn
  import CairnIncrementalStore
  import CairnInspection
  import Foundation

  struct ImportCommand: Command {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Inserts and updates Core Data objects.",
      discussion: """
        Reads the output of kvdump objects as jsonl or csv; the first character tells which of the two it is. A \
        context with the application's model saves all objects at once: it sets inverses, assigns identifiers, and \
        checks values and constraints. If anything is wrong, nothing is imported, and the error names the line. No \
        other process may have the store open for writing.

        An object with a URI of this store, or a short name such as Person/p12, is updated: properties that are not in \
        the line stay unchanged. Any other object is new. A new object may have any name, to which earlier and later \
        lines may refer. So objects of another store can be imported with all their relationships.

        Examples: kvdump import library.cairn people.csv --entity Person \\
                    --model Library.xcdatamodeld
                  kvdump objects old.cairn --format jsonl |
                    kvdump import new.cairn --model Library.xcdatamodeld
        """)

    @OptionGroup var common: CommonArguments

    @Argument(help: "The file with the objects; standard input if omitted.", completion: .file())
    var file: String?

    @Option(
      help: ArgumentHelp("The application's model: an .xcdatamodeld or .xcdatamodel from Xcode.", valueName: "path"),
      completion: .directory)
    var model: String

    @Option(help: ArgumentHelp("The entity of new objects for which the input names none.", valueName: "name"))
    var entity: String?

    @Flag(help: "Create the store if it does not exist.")
    var create = false

    func write(to output: inout Output) throws {
      let objects = try GivenObjects(Input(file))
      // A directory without a manifest counts as no store here; if it is something else, the engine reports what it is.
      let isNew = create && !FileManager.default.fileExists(atPath: "\(common.store)/\(ManifestFile.name)")
      if !isNew { try ObjectSearch.requireOwnObjects(at: common.store) }
      // A Control-C that comes too late to cancel the import ends the process after the report.
      try Watched.working("importing objects") { progress in
        let report: ObjectImport.Report
        do {
          report = try run(objects, progress)
        } catch {
          if isNew { try? CairnIncrementalStore.destroyPersistentStore(at: url, options: nil) }
          throw error
        }
        Watched.hideProgress()
        try write(report, to: &output)
        try output.flush()
      }
    }

    private func write(_ report: ObjectImport.Report, to output: inout Output) throws {
      switch common.format {
      case .text:
        try output.line(
          "imported \((report.inserted + report.updated + report.unchanged).of("object")): "
            + "\(report.inserted.grouped) inserted, \(report.updated.grouped) updated, "
            + "\(report.unchanged.grouped) unchanged")
      case .json, .jsonl:
        try output.write(
          .object([
            "schema": .string("kvdump.import"), "schemaVersion": .number(2 as Int), "store": .string(common.store),
            "inserted": .number(report.inserted), "updated": .number(report.updated),
            "unchanged": .number(report.unchanged),
          ]), common.format)
      }
    }

    private var url: URL { URL(fileURLWithPath: common.store) }

    private func run(
      _ objects: GivenObjects, _ progress: @escaping InspectionProgress
    ) throws -> ObjectImport.Report {
      let importing = try CocoaProblem.translating {
        try ObjectImport(into: url, model: URL(fileURLWithPath: model), defaultEntity: entity)
      }
      let result = Result {
        try importing.read(objects, progress: progress)
        return try importing.save()
      }
      try importing.close()
      return try result.get()
    }
  }
#endif
