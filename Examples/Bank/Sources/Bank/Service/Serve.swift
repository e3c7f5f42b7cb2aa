import ArgumentParser
import Dispatch
import Foundation

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve the bank over HTTP, until SIGTERM or SIGINT.",
    discussion: "Prints its address as soon as it listens.")

  @Argument(
    help: "The store, which is created if it does not exist: a path, or the URI of a PostgreSQL database.",
    completion: .directory)
  var store: String

  @Option(help: "The port to listen on; 0 for a port that the system chooses.")
  var port = 8080

  @Option(help: "The number of accounts of a new bank.")
  var accounts = 20

  func validate() throws {
    guard accounts > 1 else { throw ValidationError("--accounts must be at least 2: a transfer needs two.") }
  }

  func run() async throws {
    Memory.keepSmall()
    let ledger = try Ledger(store, accounts: accounts)
    let server = try await Server(port: port, Router(ledger: ledger))
    let signals = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { Task { try await server.stop() } }
      source.activate()
      return source
    }
    FileHandle.standardOutput.write(Data("listening on 127.0.0.1:\(server.port)\n".utf8))
    try await server.run()
    signals.forEach { $0.cancel() }
    try ledger.close()
  }
}
