import ArgumentParser
import Cairn
import CairnInspection

struct GetCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Prints one row.",
    discussion: """
      The value is printed as quoted text or, if it is not text, in hexadecimal as x'0a0b'; with --raw as its bytes. \
      Exit status 1 if there is no such row.

      Examples: kvdump get orders.cairn customers 42
                kvdump get orders.cairn pictures '("Berlin", 7)' --raw > picture.png
      """)

  @OptionGroup var common: CommonArguments

  @OptionGroup var row: RowArguments

  @Flag(help: "Print only the value's bytes, unchanged.")
  var raw = false

  func validate() throws {
    if raw, common.format != .text { throw ValidationError("--raw and --format cannot be combined.") }
  }

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let keyspace = try store.existingKeyspace(row.keyspace)
    guard let found = try keyspace.row(row.key) else {
      complain("there is no row \(row.key.literal) in \(escapedForTerminal(keyspace.name))")
      throw ExitCode.finding
    }
    switch common.format {
    case .text where raw:
      output.bytes = found.value
    case .text:
      unsafe found.value.withUnsafeBytes { unsafe output.bytes.append(valueLiteral: $0) }
      try output.endLine()
    case .json, .jsonl:
      output.write(#"{"schema":"kvdump.row","schemaVersion":2,"keyspace":"#)
      output.bytes.append(quoted: keyspace.name, .json)
      output.write(#","key":"#)
      output.bytes.append(json: row.key)
      output.write(#","value":"#)
      unsafe found.value.withUnsafeBytes { unsafe output.bytes.append(jsonValue: $0) }
      try output.line(#","version":\#(found.version),"sequence":\#(found.sequence)}"#)
    }
  }
}
