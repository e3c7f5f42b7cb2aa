import ArgumentParser
import Cairn
import CairnInspection

struct RestoreCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a new store of a backup, or of any other store, at one of its commits.",
    discussion: """
      The new store has the log of the other one up to that commit, with all commits that have not been compacted, and \
      its own UUID. Every record is verified; if one is damaged, its place is printed, and no new store is left behind. \
      kvdump tail lists commits. A store cannot be restored at a commit before the newest one that a compaction has \
      looked at. A process may write to the other store at the same time.

      \(SequenceHelp.text)

      Examples: kvdump restore backups/orders -o orders.cairn
                kvdump restore orders.cairn -o before.cairn --at 1000000017
      """)

  @OptionGroup var arguments: NewStoreArguments

  @Option(
    help: ArgumentHelp("The last commit of the new store; the newest if omitted.", valueName: "sequence"),
    transform: { CommitSequence(try UInt64.parse($0)) })
  var at: CommitSequence?

  func write(to output: inout Output) throws {
    let report = try Watched.working("restoring") { progress in
      try Store.restore(from: arguments.common.store, to: arguments.output, at: at) {
        progress($0.bytes, $0.totalBytes)
      }
    }
    switch arguments.common.format {
    case .text:
      try output.line(
        "restored \(escapedForTerminal(arguments.output)) up to sequence \(report.lastSequence): "
          + "\(report.records.of("record")) verified, \(report.bytes.of("byte")) in \(report.segments.of("segment"))")
    case .json, .jsonl:
      try output.write(
        .object([
          "schema": .string("kvdump.restore"), "schemaVersion": .number(2 as Int),
          "store": .string(arguments.output), "lastSequence": .number(report.lastSequence),
          "records": .number(report.records), "logBytes": .number(report.bytes),
          "segments": .number(report.segments),
        ]), arguments.common.format)
    }
  }
}
