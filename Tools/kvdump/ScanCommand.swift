import ArgumentParser
import Cairn
import CairnInspection

struct ScanCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Prints the rows of a keyspace, in the order of their references.",
    discussion: """
      A line is a reference, a tab, and the value, which is quoted text or hexadecimal as x'0a0b'. As jsonl it is \
      {"key":…,"value":…,"version":…,"revision":…}. Several bounds together mean what is within all of them. An \
      unordered keyspace can only be printed as a whole, in no order.

      Examples: kvdump scan orders.cairn customers --from 100 --to 200
                kvdump scan orders.cairn places --prefix '("Berlin")' --reverse --limit 10
                kvdump scan orders.cairn customers --format jsonl | head
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The keyspace's name.")
  var keyspace: String

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Strings and bytes that begin with it; tuples with its elements.", valueName: "reference"),
    transform: Reference.parse)
  var prefix: Reference?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The first reference.", valueName: "reference"),
    transform: Reference.parse)
  var from: Reference?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The reference to stop before.", valueName: "reference"),
    transform: Reference.parse)
  var to: Reference?

  @Option(help: ArgumentHelp("At most so many rows.", valueName: "number"))
  var limit = Int.max

  @Flag(help: "From the last row to the first.")
  var reverse = false

  @Flag(help: "Print no values.")
  var keysOnly = false

  func validate() throws {
    guard limit >= 0 else { throw ValidationError("--limit is a number of rows, not \(limit).") }
  }

  func write(to output: inout Output) throws {
    let store = try Opening.watched { try Store.openForInspection(at: common.store, progress: $0) }
    defer { store.close() }
    let keyspace = try store.existingKeyspace(keyspace)
    Interruption.watch()
    if common.format == .json { try begin(keyspace, &output) }
    let writer = RowWriter(common.format == .text ? .text : .json, keysOnly: keysOnly)
    let isDocument = common.format == .json
    var isFirst = true
    try store.read { snapshot in
      try snapshot.scan(
        KeyRange(prefix: prefix, from: from, to: to), in: keyspace, reverse: reverse, limit: limit
      ) { key, value, stamp in
        if isDocument {
          if !isFirst { output.write(",") }
          isFirst = false
          try output.endLine()
          output.write("    ")
        }
        try writer.write(key, value, stamp, to: &output.bytes)
        if !isDocument { try output.endLine() }
        return Interruption.isRequested ? .stop : .next
      }
    }
    Interruption.endIfRequested()
    if isDocument { try output.line("\n  ]\n}") }
  }

  private func begin(_ keyspace: Keyspace, _ output: inout Output) throws {
    try output.line("{\n  \"schema\": \"kvdump.rows\",\n  \"schemaVersion\": 1,")
    output.write("  \"store\": ")
    output.bytes.append(quoted: common.store, .json)
    output.write(",\n  \"keyspace\": ")
    output.bytes.append(quoted: keyspace.name, .json)
    output.write(",\n  \"rows\": [")
  }
}
