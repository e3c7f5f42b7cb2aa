import ArgumentParser
import Cairn
import CairnInspection

struct PutCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Inserts or replaces one row.",
    discussion: """
      The value is text, with or without the quotes and escapes of the output of get, or bytes written as x'0a0b'. If \
      it is omitted, the value is all bytes of standard input. The change is durable when the command ends. No other \
      process may have the store open for writing, and the keyspace must exist.

      Examples: kvdump put orders.cairn customers 42 Bea
                kvdump put orders.cairn pictures '("Berlin", 7)' < picture.png
      """)

  @OptionGroup var common: CommonArguments
  @OptionGroup var row: RowArguments
  @OptionGroup var force: ForceArguments

  @Argument(help: "The row's value; standard input if omitted.")
  var value: String?

  func write(to output: inout Output) throws {
    let bytes = try value.map(Self.bytes) ?? Input(nil).readToEnd()
    let written = try Watched.changing(common.store) { store in
      let keyspace = try force.keyspace(row.keyspace, of: store)
      try keyspace.put(bytes, at: row.key)
      return try keyspace.row(row.key)
    }
    guard let written else { return }
    switch common.format {
    case .text:
      try output.line(
        "put \(row.key.literal) into \(escapedForTerminal(row.keyspace)): version \(written.version.grouped), "
          + "sequence \(written.sequence)")
    case .json, .jsonl:
      try output.write(
        .object([
          "schema": .string("kvdump.put"), "schemaVersion": .number(2 as Int), "keyspace": .string(row.keyspace),
          "key": .key(row.key), "version": .number(written.version),
          "sequence": .number(written.sequence),
        ]), common.format)
    }
  }

  /// The bytes of a literal as `get` prints it; the UTF-8 of any other text.
  private static func bytes(_ value: String) throws -> [UInt8] {
    guard value.hasPrefix("\"") || value.hasPrefix("x'") else { return Array(value.utf8) }
    return switch try Key(literal: value) {
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    default: Array(value.utf8)
    }
  }
}
