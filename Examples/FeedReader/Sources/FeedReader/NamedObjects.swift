import CoreData

/// The feeds and the authors of imported articles: each is looked up once, and inserted if there is none.
struct NamedObjects {
  private let context: NSManagedObjectContext
  private var feeds: [String: Feed] = [:]
  private var authors: [String: Author] = [:]

  init(_ context: NSManagedObjectContext) { self.context = context }

  mutating func feed(_ feed: WebFeed) throws -> Feed {
    let object = try feeds[feed.url] ?? find("url", feed.url)
    object.title = feed.title
    feeds[feed.url] = object
    return object
  }

  mutating func author(_ name: String) throws -> Author {
    let object = try authors[name] ?? find("name", name)
    authors[name] = object
    return object
  }

  private func find<Object: NSManagedObject>(_ key: String, _ name: String) throws -> Object {
    let request = NSFetchRequest<Object>(entityName: Object.entity().name ?? "")
    request.predicate = NSPredicate(format: "%K == %@", key, name)
    if let object = try context.fetch(request).first { return object }
    let object = Object(context: context)
    object.setValue(name, forKey: key)
    return object
  }
}
