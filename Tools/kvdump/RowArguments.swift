import ArgumentParser
import Cairn

/// The row that a command works on.
struct RowArguments: ParsableArguments {
  @Argument(help: "The keyspace's name.")
  var keyspace: String

  @Argument(help: "The row's reference; kvdump --help describes how to write a reference.", transform: Reference.parse)
  var reference: Reference
}
