import ArgumentParser

@main
struct Bank: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Bank",
    abstract: "Accounts and transfers in Core Data, behind an HTTP service.",
    subcommands: [Serve.self, Load.self, Crash.self])
}
