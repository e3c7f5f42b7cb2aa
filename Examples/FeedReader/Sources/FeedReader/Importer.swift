import CoreData

/// Imports articles in the background, some thousands with each save. Articles that are known already are not doubled:
/// their `guid` is unique, and the merge policy has them take what the imported ones say.
struct Importer {
  private static let articlesPerSave = 5_000

  /// Returns how many articles are new.
  static func run(
    _ articles: some Sequence<WebArticle> & Sendable, into container: NSPersistentContainer
  ) async throws -> Int {
    try await container.performBackgroundTask { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let known = try context.count(for: Article.fetchRequest())
      try Importer(context).run(articles)
      return try context.count(for: Article.fetchRequest()) - known
    }
  }

  private let context: NSManagedObjectContext
  private let progress = ProgressLine()

  private init(_ context: NSManagedObjectContext) { self.context = context }

  private func run(_ articles: some Sequence<WebArticle>) throws {
    defer { progress.clear() }
    var named = NamedObjects(context)
    var count = 0
    for each in articles {
      let article = Article(context: context)
      article.guid = each.guid
      article.title = each.title
      article.published = each.published
      article.feed = try named.feed(each.feed)
      article.author = try named.author(each.author)
      count += 1
      guard count.isMultiple(of: Self.articlesPerSave) else { continue }
      try context.save()
      // The saved articles are not needed here any more.
      context.reset()
      named = NamedObjects(context)
      progress.show("\(count) articles")
    }
    try context.save()
  }
}
