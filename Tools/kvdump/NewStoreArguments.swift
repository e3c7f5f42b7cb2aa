import ArgumentParser

/// What commands that make a new store of an old one take.
struct NewStoreArguments: ParsableArguments {
  @OptionGroup var common: CommonArguments

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The directory of the new store; there must be nothing yet.", valueName: "new store"),
    completion: .directory)
  var output: String
}
