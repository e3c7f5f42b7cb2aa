import ArgumentParser

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Send what waits, and read what has changed at the server.",
    discussion: "Exit status 1 if the server cannot be reached, or if a change was not accepted.")

  @ParentCommand var bugs: Bugs

  func run() async throws {
    try await Session.run(bugs, isOffline: true) { session in
      let delivery = try await session.deliver()
      if !delivery.items.isEmpty {
        var table = Table("OUTCOME", "CHANGE", "ID", "TITLE", "REASON")
        for item in delivery.items {
          let (change, words) = (item.change, item.outcome.words)
          table.add(words.outcome, change.kind, change.name, change.title, words.reason)
        }
        table.print()
      }
      let words = ["sent", "conflict", "refused", "waiting"]
      let counts = words.map { word in delivery.count { $0.words.outcome == word } }
      print("\(counts[0]) sent, \(counts[1]) in conflict, \(counts[2]) refused, \(counts[3]) waiting")
      guard delivery.isUpToDate, counts[0] == delivery.items.count else { throw ExitCode.failure }
    }
  }
}

extension Delivery.Outcome {
  var words: (outcome: String, reason: String) {
    switch self {
    case .sent: ("sent", "")
    case .conflict(let present): ("conflict", "now \(present)")
    case .refused(let reason): ("refused", reason)
    case .waiting: ("waiting", "")
    }
  }
}
