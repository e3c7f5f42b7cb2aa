import ArgumentParser
import CoreData

struct Edit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Change a bug.")

  @ParentCommand var bugs: Bugs
  @OptionGroup var reach: Reach

  @Argument(help: "The bug.")
  var id: BugName

  @Option(help: "What is wrong.")
  var title: String?

  @Option(help: "Whether it is still wrong.")
  var state: BugState?

  @Option(help: "The login of the user who is to mend it.")
  var assignee: String?

  func validate() throws {
    guard title != nil || state != nil || assignee != nil else {
      throw ValidationError("There is nothing to change; use --title, --state or --assignee.")
    }
  }

  func run() async throws {
    try await Session.run(bugs, isOffline: reach.isOffline) { session in
      try await session.container.performBackgroundTask { context in
        let bug = try session.bug(id, context)
        if let title { bug.title = title }
        if let state { bug.state = state.rawValue }
        if let assignee { bug.assignee = try session.user(assignee, context) }
        try context.save()
      }
      try await session.finish("changed \(id)")
    }
  }
}
