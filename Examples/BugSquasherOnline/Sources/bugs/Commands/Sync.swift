import ArgumentParser

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read what has changed at the server, and send what waits.",
    discussion: "Exit status 1 if the server cannot be reached, or if a change was not accepted.")

  @ParentCommand var bugs: Bugs

  func run() async throws {
    try await Session.run(bugs) { session in
      guard session.isOnline else { throw ExitCode.failure }
      let delivery = try await session.deliver()
      if !delivery.items.isEmpty {
        var table = Table("OUTCOME", "CHANGE", "ID", "TITLE", "REASON")
        for item in delivery.items {
          let (change, words) = (item.change, item.outcome.words)
          table.add(words.outcome, change.kind, change.name, change.title, words.reason)
        }
        table.print()
      }
      let (sent, conflicts) = (delivery.count { $0 == .sent }, delivery.count { $0 == .conflict })
      let (waiting, all) = (delivery.count { $0 == .waiting }, delivery.items.count)
      print(
        "\(sent) sent, \(conflicts) in conflict, \(all - sent - conflicts - waiting) refused, \(waiting) waiting")
      if waiting > 0, let failure = delivery.failure { note("\(failure).") }
      if sent < all { throw ExitCode.failure }
    }
  }
}

extension Delivery.Outcome {
  var words: (outcome: String, reason: String) {
    switch self {
    case .sent: ("sent", "")
    case .conflict: ("conflict", "somebody else's change counts")
    case .refused(let reason): ("refused", reason)
    case .waiting: ("waiting", "")
    }
  }
}
