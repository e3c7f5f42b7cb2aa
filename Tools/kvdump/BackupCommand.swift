import ArgumentParser
import Cairn
import CairnInspection

struct BackupCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Makes a backup of a store, or brings one up to date.",
    discussion: """
      A process may write to the store at the same time: the backup has all commits up to one moment, and no later \
      ones. Files that do not change any more are shared with the store by hard links where the file system can do \
      that; all others are copied. Once more into the same directory copies only what is new; if the command is \
      interrupted, the earlier backup is still there. All commands that read a store read a backup. It cannot be \
      changed: kvdump restore makes a store of it.

      Examples: kvdump backup orders.cairn -o backups/orders
                kvdump backup orders.cairn -o /mnt/other/orders --copy
      """)

  @OptionGroup var common: CommonArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The directory of the backup; it must be missing or empty, or have an earlier backup of the store.",
      valueName: "backup"),
    completion: .directory)
  var output: String

  @Flag(help: "Copy all files, so that damage of the disk affects either the store or the backup.")
  var copy = false

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let report = try Watched.working("copying") { progress in
      try store.backup(to: self.output, linksFiles: !copy) { progress($0.bytes, $0.totalBytes) }
    }
    switch common.format {
    case .text: try output.line(text(report))
    case .json, .jsonl: try output.write(try json(report, store), common.format)
    }
  }

  private func text(_ report: BackupReport) -> String {
    let parts = [("linked", report.linked), ("copied", report.copied), ("already there", report.present)]
    let words = parts.filter { $0.1.count > 0 }.map { "\($0.1.bytes.of("byte")) \($0.0)" }
    let removed = report.removed.count > 0 ? "; removed \(report.removed.count.of("segment"))" : ""
    return "backed up into \(escapedForTerminal(output)) up to sequence \(report.lastSequence): "
      + (words.isEmpty ? "the store is empty" : words.joined(separator: ", ")) + removed
  }

  private func json(_ report: BackupReport, _ store: Store) throws -> JSON {
    func files(_ files: BackupReport.Files) -> JSON {
      .object(["segments": .number(files.count), "bytes": .number(files.bytes)])
    }
    let figures = store.statistics
    return .object([
      "schema": .string("kvdump.backup"), "schemaVersion": .number(2 as Int), "store": .string(output),
      "rows": .number(figures.rows), "versions": .number(figures.rows + figures.olderVersions),
      "lastSequence": .number(report.lastSequence), "logBytes": .number(figures.logBytes),
      "dictionaries": .number(figures.dictionaries),
      "keyspaces": .array(
        try store.keyspaces.map { .object(["name": .string($0.name), "rows": .number(try $0.count())]) }),
      "linked": files(report.linked), "copied": files(report.copied), "present": files(report.present),
      "removed": files(report.removed),
    ])
  }
}
