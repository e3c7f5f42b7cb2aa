import ArgumentParser

struct Unsent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List the changes that the server has not accepted.")

  @ParentCommand var bugs: Bugs

  @Option(help: "Undo the change with this number here, and all later ones of the same bug.")
  var discard: Int64?

  func run() async throws {
    try await Session.run(bugs, isOffline: true) { session in
      if let discard {
        guard let change = try session.store.unsentChanges.first(where: { $0.id == discard }) else {
          throw Failure(description: "There is no change \(discard).")
        }
        return try session.store.discard(change)
      }
      let changes = try await session.unsentChanges()
      guard !changes.isEmpty else { return }
      var table = Table("NUMBER", "CHANGE", "ID", "TITLE", "STATE")
      for change in changes { table.add("\(change.id)", change.kind, change.name, change.title, change.state) }
      table.print()
    }
  }
}
