import ArgumentParser
import CoreData

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Add a bug.")

  @ParentCommand var bugs: Bugs
  @OptionGroup var reach: Reach

  @Argument(help: "What is wrong.")
  var title: String

  @Option(help: "The login of the user who is to mend it.")
  var assignee: String?

  func run() async throws {
    try await Session.run(bugs, isOffline: reach.isOffline) { session in
      try await session.container.performBackgroundTask { context in
        let bug = Bug(context: context)
        (bug.title, bug.created) = (title, Date.now)
        if let assignee { bug.assignee = try session.user(assignee, context) }
        try context.save()
      }
      try await session.finish("added '\(title)'")
    }
  }
}
