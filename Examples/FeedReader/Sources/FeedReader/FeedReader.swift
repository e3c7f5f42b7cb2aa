import CairnIncrementalStore
import CoreData

@main
@MainActor
struct FeedReader {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let directory = arguments.first, let commands = Command.parse(arguments.dropFirst()) else {
      fail(Command.usage, status: 64)
    }
    do {
      let reader = FeedReader(container: try container(at: URL(filePath: directory)))
      for command in commands { try await reader.perform(command) }
    } catch {
      fail("FeedReader: \(error.localizedDescription)", status: 1)
    }
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(status)
  }

  /// Opens the store, and makes a new one if there is none.
  private static func container(at directory: URL) throws -> NSPersistentContainer {
    guard let file = Bundle.module.url(forResource: "FeedReader", withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: file)
    else { fatalError("There is no model.") }
    let container = NSPersistentContainer(name: "FeedReader", managedObjectModel: model)
    container.persistentStoreDescriptions = [.cairn(at: directory)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }

  let container: NSPersistentContainer

  private var context: NSManagedObjectContext { container.viewContext }

  private func perform(_ command: Command) async throws {
    switch command {
    case .subscribe(let feeds, let articles):
      let archive = WebFeed.archive(feeds: feeds, articles: articles)
      print("\(try await Importer.run(archive, into: container)) new articles")
    case .update:
      print("\(try await Importer.run(Updates.download(for: container), into: container)) new articles")
    case .feeds:
      let unread = try UnreadCounts(in: context)
      for feed in try Feed.all(in: context) { print("\(feed.title ?? ""): \(unread[feed]) unread") }
    case .list(let title):
      let feed = try Feed.titled(title, in: context)
      try ArticleList(NSPredicate(format: "feed == %@", feed), in: context).show(title)
    case .unread:
      try ArticleList(NSPredicate(format: "readAt == nil"), in: context).show("unread")
    case .starred:
      try ArticleList(NSPredicate(format: "starredAt != nil"), in: context).show("starred")
    case .search(let word):
      let plain = word.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      try ArticleList(NSPredicate(format: "searchTitle CONTAINS %@", plain), in: context).show(word)
    case .read(let title):
      try Article.titled(title, in: context).readAt = Date()
      try context.save()
      print("read \(title)")
    case .star(let title):
      try Article.titled(title, in: context).starredAt = Date()
      try context.save()
      print("starred \(title)")
    case .forgetOld(let days):
      print("\(try await Housekeeping.forgetArticles(olderThan: days, in: container)) articles forgotten")
    }
  }
}
