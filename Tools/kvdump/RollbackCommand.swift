import ArgumentParser
import Cairn
import CairnInspection

struct RollbackCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Takes a store back to its state after an earlier commit.",
    discussion: """
      Removes all later commits from the store. Their bytes are kept beside the log, in files whose names are printed. \
      kvdump tail lists commits. A store cannot go back beyond the newest commit that a compaction has looked at. No \
      other process may have the store open for writing.

      \(SequenceHelp.text)

      Example: kvdump rollback orders.cairn --to 1000000017
      """)

  @OptionGroup var common: CommonArguments

  @Option(
    help: ArgumentHelp("The newest commit to keep.", valueName: "sequence"),
    transform: { CommitSequence(try UInt64.parse($0)) })
  var to: CommitSequence

  func write(to output: inout Output) throws {
    let recovery = try Watched.changing(common.store, upTo: to) { store in
      guard !store.recovery.discarded.isEmpty else { throw NothingBehind(newest: store.recovery.lastSequence) }
      try store.beginWriting()
      return store.recovery
    }
    switch common.format {
    case .text:
      try output.line(
        "went back to commit \(recovery.lastSequence), which leaves \(recovery.rows.of("row")); "
          + "saved \(recovery.discardedBytes.of("byte")) of the log in:")
      for part in recovery.discarded { try output.line("  \(part.keptAs)") }
    case .json, .jsonl:
      try output.write(
        .object([
          "schema": .string("kvdump.rollback"), "schemaVersion": .number(2 as Int), "store": .string(common.store),
          "lastSequence": .number(recovery.lastSequence), "rows": .number(recovery.rows),
          "discardedBytes": .number(recovery.discardedBytes),
          "keptAs": .array(recovery.discarded.map { .string($0.keptAs) }),
        ]), common.format)
    }
  }
}

/// The store has no commits after the one to go back to.
struct NothingBehind: Error, CustomStringConvertible {
  let newest: CommitSequence

  var description: String { "there is no commit after \(newest), so there is nothing to roll back" }
}
