import ArgumentParser
import Foundation

@main
struct Bugs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read and change the bugs of a server, also while it cannot be reached.",
    discussion: """
      What was read is kept in a directory, and so are changes until the server has accepted them. Exit status 1 if \
      something was not done, 64 if the arguments make no sense.
      """,
    subcommands: [List.self, Show.self, Add.self, Edit.self, Delete.self, Sync.self, Unsent.self])

  @Option(help: "The directory of what is known here. Each user has one.", completion: .directory)
  var store = "bugs.cairn"

  @Option(help: "The URL of the server.")
  var server = "http://127.0.0.1:8080"

  var serverURL: URL { get throws { try Self.url(server) } }

  func validate() throws { _ = try serverURL }

  private static func url(_ text: String) throws -> URL {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil, url.query() == nil,
      url.user() == nil, url.fragment() == nil
    else { throw ValidationError("--server must be a URL such as http://127.0.0.1:8080.") }
    return url
  }
}

/// The option of all commands that would otherwise ask the server.
struct Reach: ParsableArguments {
  @Flag(name: .customLong("offline"), help: "Do not ask the server; changes wait for 'bugs sync'.")
  var isOffline = false
}
