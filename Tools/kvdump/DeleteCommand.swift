import ArgumentParser
import Cairn
import CairnInspection

struct DeleteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes one row.",
    discussion: """
      The change is durable when the command ends. No other process may have the store open for writing. Exit status 1 \
      if there is no such row.

      Example: kvdump delete orders.cairn customers 42
      """)

  @OptionGroup var common: CommonArguments
  @OptionGroup var row: RowArguments
  @OptionGroup var force: ForceArguments

  func write(to output: inout Output) throws {
    let sequence = try Watched.changing(common.store) { store -> CommitSequence? in
      let keyspace = try force.keyspace(row.keyspace, of: store)
      guard try keyspace.contains(row.key) else { return nil }
      return try keyspace.delete(row.key)
    }
    guard let sequence else {
      complain("there is no row \(row.key.literal) in \(escapedForTerminal(row.keyspace))")
      throw ExitCode.finding
    }
    switch common.format {
    case .text:
      try output.line(
        "deleted \(row.key.literal) from \(escapedForTerminal(row.keyspace)): sequence \(sequence)")
    case .json, .jsonl:
      try output.write(
        .object([
          "schema": .string("kvdump.delete"), "schemaVersion": .number(2 as Int), "keyspace": .string(row.keyspace),
          "key": .key(row.key), "sequence": .number(sequence),
        ]), common.format)
    }
  }
}
