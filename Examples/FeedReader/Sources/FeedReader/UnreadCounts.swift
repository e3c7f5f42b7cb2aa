import CoreData

/// How many articles of each feed are unread. The store counts them; no article is read.
@MainActor
struct UnreadCounts {
  private var counts: [NSManagedObjectID: Int] = [:]

  init(in context: NSManagedObjectContext) throws {
    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "objectID")])
    count.expressionResultType = .integer64AttributeType

    let request = NSFetchRequest<NSDictionary>(entityName: "Article")
    request.predicate = NSPredicate(format: "readAt == nil")
    request.resultType = .dictionaryResultType
    request.propertiesToGroupBy = ["feed"]
    request.propertiesToFetch = ["feed", count]
    for group in try context.fetch(request) {
      guard let feed = group["feed"] as? NSManagedObjectID else { continue }
      counts[feed] = group["count"] as? Int
    }
  }

  subscript(feed: Feed) -> Int { counts[feed.objectID] ?? 0 }
}
