import ArgumentParser
import CoreData
import RemoteIncrementalStore

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List bugs, the newest first.")

  enum Order: String, ExpressibleByArgument, CaseIterable { case created, title }

  @ParentCommand var bugs: Bugs
  @OptionGroup var reach: Reach

  @Option(help: "Only bugs in this state.")
  var state: BugState?

  @Option(help: "Only the bugs of the user with this login.")
  var assignee: String?

  @Option(help: "The order: the newest first, or by title.")
  var order = Order.created

  @Option(help: "How many bugs at most; 0 for all.")
  var limit = 20

  func validate() throws {
    guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
  }

  func run() async throws {
    try await Session.run(bugs, isOffline: reach.isOffline) { session in
      let freshness = session.freshness
      let table = try await session.container.performBackgroundTask { context in
        let request = request()
        request.freshness = freshness
        var table = Table("ID", "STATE", "ASSIGNEE", "TITLE")
        for bug in try context.fetch(request) {
          table.add("\(BugName(bug))", bug.state ?? "", bug.assignee?.login ?? "-", bug.title ?? "")
        }
        return table
      }
      if session.isOnline {
        let status = try session.store.status(of: request())
        if let failure = status.failure { note("\(failure). This is what is known here.") }
        if status.isLoading { note("Not all bugs have come in ten seconds. The same command goes on there.") }
      }
      table.print()
    }
  }

  private func request() -> NSFetchRequest<Bug> {
    let request = Bug.fetchRequest()
    var parts: [NSPredicate] = []
    if let state { parts.append(NSPredicate(format: "state == %@", state.rawValue)) }
    if let assignee { parts.append(NSPredicate(format: "assignee.login == %@", assignee)) }
    if !parts.isEmpty { request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts) }
    request.sortDescriptors = [NSSortDescriptor(key: order.rawValue, ascending: order == .title)]
    request.fetchLimit = limit
    return request
  }
}
