import ArgumentParser
import CoreData

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show a bug.")

  @ParentCommand var bugs: Bugs
  @OptionGroup var reach: Reach

  @Argument(help: "The bug.")
  var id: BugName

  func run() async throws {
    try await Session.run(bugs, isOffline: reach.isOffline) { session in
      print(
        try await session.container.performBackgroundTask { context in
          let bug = try session.bug(id, context)
          let assignee = bug.assignee.map { "\($0.login ?? "") (\($0.name ?? ""))" }
          return """
            ID        \(BugName(bug))
            TITLE     \(bug.title ?? "")
            STATE     \(bug.state ?? "")
            ASSIGNEE  \(assignee ?? "-")
            CREATED   \(bug.created?.formatted(.iso8601) ?? "-")
            """
        })
    }
  }
}
