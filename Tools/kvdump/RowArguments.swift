import ArgumentParser
import Cairn

/// The row that a command works on.
struct RowArguments: ParsableArguments {
  @Argument(help: "The keyspace's name.")
  var keyspace: String

  @Argument(help: "The row's key; kvdump --help describes how to write a key.", transform: Key.parse)
  var key: Key
}
