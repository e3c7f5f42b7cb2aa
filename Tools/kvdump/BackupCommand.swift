import ArgumentParser
import Cairn
import CairnInspection

struct BackupCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store, as it is at one moment, into a new one.",
    discussion: """
      A process may be writing to the store meanwhile: the copy has all commits up to one moment, and none behind it. \
      Rows keep their versions and revisions, and older versions where they are kept; values are copied as they are stored. Either \
      all of it is copied, or there is no new store. The copy has a UUID of its own.

      Example: kvdump backup orders.cairn -o "orders-$(date +%F).cairn"
      """)

  @OptionGroup var arguments: NewStoreArguments

  func write(to output: inout Output) throws {
    let store = try Watched.store(arguments.common.store)
    defer { try? store.close() }
    let contents = try arguments.copy(store)
    try contents.print("copied", as: "backup", store: arguments.output, arguments.common.format, to: &output)
  }
}
