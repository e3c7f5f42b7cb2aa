import CoreData

/// The articles that a predicate finds, newest first, as a list on a screen has them: however long it is, only articles
/// near those that are shown are read into memory, fifty at a time and their authors with them.
@MainActor
struct ArticleList {
  private static let rowsOnScreen = 5

  private let articles: [Article]

  init(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<Article> = Article.fetchRequest()
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "published", ascending: false)]
    request.fetchBatchSize = 50
    request.relationshipKeyPathsForPrefetching = ["author"]
    articles = try context.fetch(request)
  }

  /// Prints how many articles there are, and the first of them.
  func show(_ title: String) {
    print("\(title): \(articles.count)")
    for article in articles.prefix(Self.rowsOnScreen) { print("  \(row(article))") }
  }

  private func row(_ article: Article) -> String {
    let day = article.published?.formatted(.iso8601.year().month().day()) ?? ""
    let marks = [(article.readAt, "read"), (article.starredAt, "starred")].filter { $0.0 != nil }.map(\.1)
    return (["\(day)  \(article.title ?? "")", article.author?.name ?? "anonymous"] + marks).joined(separator: ", ")
  }
}
