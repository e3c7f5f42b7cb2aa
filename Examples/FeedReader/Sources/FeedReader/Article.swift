import CoreData

/// An article of a feed. Its properties are in the extension that `modelgen` has written.
///
/// Whether an article was read is a date without a default value: an article that is imported again has none, and so
/// leaves the date of the known one as it is.
class Article: NSManagedObject {
  /// The article with a title.
  static func titled(_ title: String, in context: NSManagedObjectContext) throws -> Article {
    let request: NSFetchRequest<Article> = Article.fetchRequest()
    request.predicate = NSPredicate(format: "title == %@", title)
    request.fetchLimit = 1
    guard let article = try context.fetch(request).first else { throw Missing(what: "article", name: title) }
    return article
  }

  /// The newest article of a feed, or of all feeds; nil if there is none.
  static func newest(of feed: Feed? = nil, in context: NSManagedObjectContext) throws -> Article? {
    let request: NSFetchRequest<Article> = Article.fetchRequest()
    request.predicate = feed.map { NSPredicate(format: "feed == %@", $0) }
    request.sortDescriptors = [NSSortDescriptor(key: "published", ascending: false)]
    request.fetchLimit = 1
    return try context.fetch(request).first
  }
}

extension Feed {
  /// The feed with a title.
  static func titled(_ title: String, in context: NSManagedObjectContext) throws -> Feed {
    let request: NSFetchRequest<Feed> = Feed.fetchRequest()
    request.predicate = NSPredicate(format: "title == %@", title)
    request.fetchLimit = 1
    guard let feed = try context.fetch(request).first else { throw Missing(what: "feed", name: title) }
    return feed
  }

  /// All feeds, sorted by title.
  static func all(in context: NSManagedObjectContext) throws -> [Feed] {
    let request: NSFetchRequest<Feed> = Feed.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request)
  }
}

struct Missing: LocalizedError {
  let what: String
  let name: String

  var errorDescription: String? { "there is no \(what) \"\(name)\"" }
}
