import ArgumentParser
import Foundation
import Hummingbird
import Logging

@main
struct BugServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bug-server", abstract: "Serve bugs over HTTP, until SIGTERM or SIGINT.",
    discussion: "Prints its address as soon as it listens.")

  @Argument(help: "The store of what was changed, which is created if it does not exist.", completion: .directory)
  var store: String

  @Option(help: "The port to listen on; 0 for a port that the system chooses.")
  var port = 8080

  @Option(help: "How many bugs a new store begins with.")
  var bugs = 100_000

  @Option(help: "How many milliseconds the answer to a change is held back after the change was made.")
  var delayAnswers = 0

  func validate() throws {
    guard bugs >= 0, delayAnswers >= 0, 0...65535 ~= port else {
      throw ValidationError("--bugs and --delay-answers must not be negative, and --port must be a port.")
    }
  }

  func run() async throws {
    let tracker = try BugTracker(Journal(at: URL(filePath: store), sampleCount: bugs))
    let routes = Routes(tracker: tracker, delay: .milliseconds(delayAnswers))
    var logger = Logger(label: "bug-server")
    logger.logLevel = .error
    let application = Application(
      router: routes.router(), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { channel in
        let line = "listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
      }, logger: logger)
    try await application.runService()
    try await tracker.close()
  }
}
