import ArgumentParser
import Cairn
import CairnInspection

struct ScanCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Prints the rows of a keyspace, in the order of their keys.",
    discussion: """
      A line has a key, a tab, and the value, which is quoted text or hexadecimal as x'0a0b'. As jsonl a row is \
      {"key":…,"value":…,"version":…,"sequence":…}. If several bounds are given, a row must be within all of them. An \
      unordered keyspace can only be printed completely, in no particular order.

      Examples: kvdump scan orders.cairn customers --from 100 --to 200
                kvdump scan orders.cairn places --prefix '("Berlin")' --limit 10
                kvdump scan orders.cairn customers --format jsonl | head
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The keyspace's name.")
  var keyspace: String

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print only strings and bytes that begin with this one, and tuples that begin with its elements.",
      valueName: "key"),
    transform: Key.parse)
  var prefix: Key?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Print only keys from this one on.", valueName: "key"),
    transform: Key.parse)
  var from: Key?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Print only keys before this one.", valueName: "key"),
    transform: Key.parse)
  var to: Key?

  @Option(
    help: ArgumentHelp("Print at most this many rows; all rows if omitted.", valueName: "number"),
    transform: Int.parse)
  var limit: Int?

  @Flag(help: "Print from the last row to the first.")
  var reverse = false

  @Flag(help: "Print no values.")
  var keysOnly = false

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let keyspace = try store.existingKeyspace(keyspace)
    // Checked before anything is printed.
    if keyspace.order == .unordered, reverse || prefix != nil || from != nil || to != nil {
      throw StoreError.notOrdered(keyspace.name)
    }
    Interruption.watch()
    let writer = RowWriter(common.format == .text ? .text : .json, keysOnly: keysOnly)
    var listing = Listing("rows", items: "rows", common.format)
    try listing.begin(["store": .string(common.store), "keyspace": .string(keyspace.name)], to: &output)
    var count = 0
    try store.read { snapshot in
      try keyspace.scan(
        KeyRange(prefix: prefix, from: from, to: to), reverse: reverse, limit: limit ?? .max, at: snapshot
      ) { key, value, stamp in
        count += 1
        try listing.item(to: &output) { try writer.write(key, value, stamp, to: &$0) }
        return Interruption.isRequested ? .stop : .next
      }
    }
    Interruption.endIfRequested()
    try listing.end(["count": .number(count)], to: &output)
  }
}
