import ArgumentParser
import Cairn
import CairnInspection

struct DropCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Drops a keyspace with all its rows.",
    discussion: """
      The change is durable when the command ends. The next program that writes to the store frees the space. \
      No other process may have the store open for writing.

      Example: kvdump drop orders.cairn customers
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The keyspace's name.")
  var keyspace: String

  @OptionGroup var force: ForceArguments

  func write(to output: inout Output) throws {
    let (rows, sequence) = try Watched.changing(common.store) { store in
      let keyspace = try force.keyspace(keyspace, of: store)
      return (try keyspace.count(), try keyspace.drop())
    }
    switch common.format {
    case .text: try output.line("dropped \(escapedForTerminal(keyspace)) with \(rows.of("row"))")
    case .json, .jsonl:
      try output.write(
        .object([
          "schema": .string("kvdump.drop"), "schemaVersion": .number(2 as Int), "keyspace": .string(keyspace),
          "rows": .number(rows), "sequence": .number(sequence),
        ]), common.format)
    }
  }
}
