#if !canImport(Darwin)
  import ArgumentParser
  import Cairn
  import CairnIncrementalStore
  import CairnInspection
  import Foundation
  import IncrementalStore
  import OpenCoreData

  struct MigrateCommand: Command {
    static let configuration = CommandConfiguration(
      commandName: "migrate",
      abstract: "Prints what a migration of a Core Data store to another model would do.",
      discussion: """
        The application migrates a store when it opens the store, if its options allow that. This command changes \
        nothing: it lists what stays, in which form, what is added and what is removed, and reads the objects that \
        would be rewritten, to tell whether each of their values has the new type. The migration takes at least as \
        long as that. Exit status 1 if the migration would be refused.

        Example: kvdump migrate library.cairn --model Library.xcdatamodeld --dry-run
        """)

    @OptionGroup var common: CommonArguments

    @Option(
      help: ArgumentHelp("The new model: an .xcdatamodeld or .xcdatamodel from Xcode.", valueName: "path"),
      completion: .directory)
    var model: String

    @Flag(help: "Only print what would happen. It is required, because only applications migrate stores.")
    var dryRun = false

    func validate() throws {
      guard dryRun else {
        throw ValidationError("Only the application migrates a store; use --dry-run to see what would happen.")
      }
    }

    func write(to output: inout Output) throws {
      try ObjectSearch.requireObjects(at: common.store)
      let start = ContinuousClock.now
      let result = try CocoaProblem.translating { try preview() }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      switch result {
      case .success(let preview): try write(preview, seconds, to: &output)
      case .failure(let refusal):
        try write(refusal, to: &output)
        throw ExitCode.finding
      }
    }

    /// - Returns: The reason in the error if the migration would be refused.
    private func preview() throws -> Result<MigrationPreview, Refusal> {
      let model = try NSManagedObjectModel(modelFileAt: URL(fileURLWithPath: model))
      let url = URL(fileURLWithPath: common.store)
      let rows = try CairnIncrementalStore.rowStore(at: url, options: [NSReadOnlyPersistentStoreOption: true])
      defer { try? rows.close() }
      do {
        return .success(
          try Watched.working("reading objects") { progress in
            try MigrationPreview(of: rows, at: url, to: model) { done, total in
              if !progress(done, total) { throw CancellationError() }
            }
          })
      } catch let error as NSError where error.code == NSInferredMappingModelError {
        return .failure(Refusal(reason: error.userInfo["reason"] as? String ?? error.localizedDescription))
      }
    }

    private struct Refusal: Error {
      let reason: String
    }

    private func write(_ preview: MigrationPreview, _ seconds: Double, to output: inout Output) throws {
      var listing = Listing("migrate", items: "changes", common.format)
      try listing.begin(["store": .string(common.store), "model": .string(model), "refusal": .null], to: &output)
      if listing.isText {
        if preview.changes.isEmpty { return try output.line("The store was written with this model.") }
        var table = Table(["entity": .left, "property": .left, "change": .left])
        for change in preview.changes {
          table.append(
            escapedForTerminal(change.entity), escapedForTerminal(change.property ?? ""),
            escapedForTerminal(change.words))
        }
        for line in table.lines { try output.line(line) }
        try output.line("")
        try output.line(
          "rewrites \(preview.rowsRewritten.of("object")) (\(preview.bytesRewritten.of("byte"))) of "
            + "\(preview.rowsRead.grouped) read")
        try output.line("removes \(preview.objectsRemoved.of("object")) in the background")
        if preview.rowsRead > 0 {
          try output.line("takes at least the \(String(format: "%.1f", seconds)) s that this command took")
        }
      } else {
        for change in preview.changes {
          try listing.item(
            [
              "entity": .string(change.entity), "property": change.property.map { .string($0) } ?? .null,
              "change": .string(change.words),
            ], to: &output)
        }
      }
      try listing.end(
        [
          "rowsRead": .number(preview.rowsRead), "rowsRewritten": .number(preview.rowsRewritten),
          "bytesRewritten": .number(preview.bytesRewritten), "objectsRemoved": .number(preview.objectsRemoved),
        ], to: &output)
    }

    private func write(_ refusal: Refusal, to output: inout Output) throws {
      guard common.format != .text else {
        return try output.line("The migration would be refused: \(escapedForTerminal(refusal.reason)).")
      }
      var listing = Listing("migrate", items: "changes", common.format)
      try listing.begin(
        ["store": .string(common.store), "model": .string(model), "refusal": .string(refusal.reason)], to: &output)
      try listing.end(to: &output)
    }
  }
#endif
