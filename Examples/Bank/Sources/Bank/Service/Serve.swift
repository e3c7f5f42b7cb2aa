import ArgumentParser
import Dispatch
import Foundation

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve the bank over HTTP, until SIGTERM or SIGINT.",
    discussion: "Prints where it listens once it does.")

  @Argument(help: "The store; it is made if it is missing.", completion: .directory)
  var store: String

  @Option(help: "The port to listen on; 0 for one that the system chooses.")
  var port = 8080

  @Option(help: "How many accounts a new bank has.")
  var accounts = 20

  func validate() throws {
    guard accounts > 1 else { throw ValidationError("--accounts needs 2 at least: transfers are between two.") }
  }

  func run() async throws {
    Memory.keepSmall()
    let ledger = try Ledger(at: URL(filePath: store), accounts: accounts)
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
