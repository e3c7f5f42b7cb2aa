import Foundation

/// The service in a process of its own, on a port chosen by the system.
final class ServiceProcess: Sendable {
  struct NotListening: Error {}

  let port: Int
  private let process: Process

  /// Starts the service, and returns once it listens.
  init(store: String) throws {
    process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["serve", store, "--port", "0"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = line.split(separator: ":").last.flatMap({ Int($0.dropLast()) }) else { throw NotListening() }
    self.port = port
  }

  /// Sends SIGKILL, and returns once the process has ended.
  func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
