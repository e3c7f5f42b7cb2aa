import ArgumentParser
import CoreData

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Delete a bug.")

  @ParentCommand var bugs: Bugs
  @OptionGroup var reach: Reach

  @Argument(help: "The bug.")
  var id: BugName

  func run() async throws {
    try await Session.run(bugs, isOffline: reach.isOffline) { session in
      try await session.container.performBackgroundTask { context in
        context.delete(try session.bug(id, context))
        try context.save()
      }
      try await session.finish("deleted \(id)")
    }
  }
}
