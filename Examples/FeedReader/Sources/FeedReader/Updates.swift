import CoreData

/// What is new in the feeds of a store.
struct Updates {
  /// Downloads what each feed offers beside the articles that the store has.
  static func download(for container: NSPersistentContainer) async throws -> [WebArticle] {
    try await container.performBackgroundTask { context in
      try Feed.all(in: context).flatMap { feed in
        let newest = try Article.newest(of: feed, in: context)
        return feed.url.flatMap(WebFeed.init(url:))?.latest(since: newest?.published) ?? []
      }
    }
  }
}
