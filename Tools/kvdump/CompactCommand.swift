import ArgumentParser
import Cairn
import CairnInspection

struct CompactCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Copies what is needed of a store into a new one.",
    discussion: """
      The rows there are, with their versions and revisions, and older versions where they are kept, in the order of their \
      keys. The store itself is not changed; a process may be writing to it. Either all of it is copied, or there is no new \
      store.

      Example: kvdump compact orders.cairn -o compacted.cairn
      """)

  @OptionGroup var arguments: NewStoreArguments

  @Flag(help: "Compress values anew, with dictionaries trained from what there is now.")
  var recompress = false

  func write(to output: inout Output) throws {
    let store = try Watched.store(arguments.common.store)
    defer { try? store.close() }
    let before = store.statistics.logBytes
    let contents = try arguments.copy(store, recompressing: recompress)
    try contents.print("copied", as: "compact", store: arguments.output, arguments.common.format, to: &output)
    if arguments.common.format == .text {
      try output.line("the log of the old one has \(before.grouped) bytes")
    }
  }
}
