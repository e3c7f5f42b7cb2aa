import CoreData

@main
struct BugSquasher {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard let directory = arguments.first, let commands = Command.parse(arguments.dropFirst()) else {
      fail(Command.usage, status: 64)
    }
    do {
      let container = try persistentContainer(in: URL(filePath: directory))
      let squasher = BugSquasher(context: container.viewContext)
      for command in commands { print(try squasher.perform(command)) }
    } catch {
      fail("BugSquasher: \(error.localizedDescription)", status: 1)
    }
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(status)
  }

  let context: NSManagedObjectContext

  /// Performs a command, and returns a line that describes the result.
  func perform(_ command: Command) throws -> String {
    switch command {
    case .add(let title):
      let bug = Bug(context: context)
      bug.title = title
      try context.save()
      return "added \(title)"
    case .list:
      let bugs = try bugs()
      return (["\(bugs.count) bugs"] + bugs.map { "  \($0.title!)" }).joined(separator: "\n")
    case .edit(let title, let newTitle):
      guard let bug = try bugs(title).first else { return "there is no \(title)" }
      bug.title = newTitle
      try context.save()
      return "\(title) is now \(newTitle)"
    case .squash(let title):
      guard let bug = try bugs(title).first else { return "there is no \(title)" }
      context.delete(bug)
      try context.save()
      return "squashed \(title)"
    }
  }

  /// All bugs in order of title, or those with one title.
  private func bugs(_ title: String? = nil) throws -> [Bug] {
    let request: NSFetchRequest<Bug> = Bug.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    if let title { request.predicate = NSPredicate(format: "title == %@", title) }
    return try context.fetch(request)
  }
}
