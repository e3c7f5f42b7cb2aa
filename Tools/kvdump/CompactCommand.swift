import ArgumentParser
import Cairn
import CairnInspection

struct CompactCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Copies a store into a new one, without records that it no longer needs.",
    discussion: """
      Copies the rows in the order of their keys, with their versions and sequences, and the older versions that the \
      store keeps. The store itself is not changed; a process may write to it at the same time. If the copy fails, no \
      new store is left behind.

      Example: kvdump compact orders.cairn -o compacted.cairn
      """)

  @OptionGroup var arguments: NewStoreArguments

  @Flag(help: "Compress values again, with dictionaries trained from the current rows.")
  var recompress = false

  func write(to output: inout Output) throws {
    let store = try Watched.store(arguments.common.store)
    defer { try? store.close() }
    let before = store.statistics.logBytes
    let contents = try arguments.copy(store, recompressing: recompress)
    try contents.print("copied", as: "compact", store: arguments.output, arguments.common.format, to: &output)
    if arguments.common.format == .text {
      try output.line("the log of the old store has \(before.grouped) bytes")
    }
  }
}
