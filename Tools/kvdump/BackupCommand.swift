import ArgumentParser
import Cairn
import CairnInspection

struct BackupCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store, as of one moment, into a new store.",
    discussion: """
      A process may write to the store at the same time: the copy has all commits up to one moment, and no later ones. \
      Rows keep their versions and sequences; older versions that the store keeps are copied too. Values are copied as \
      they are stored. If the copy fails, no new store is left behind. The copy has its own UUID.

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
