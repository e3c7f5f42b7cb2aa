import CoreData

@main
struct NSHipster {
  static let usage = """
    usage: NSHipster DIRECTORY write | read | move

    Keeps authors and their articles in DIRECTORY/articles.plist, and prints the requests that the store receives.

      write   save two authors and three articles
      read    print the authors with their articles, and the best article with its author
      move    give the best article to the other author
    """

  enum Command: String {
    case write, read, move
  }

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let command = Command(rawValue: arguments.last!) else { fail(usage, status: 64) }
    do {
      let hipster = NSHipster(context: try openContext(in: URL(filePath: arguments.first!)))
      switch command {
      case .write: try hipster.write()
      case .read: try hipster.read()
      case .move: try hipster.move()
      }
    } catch {
      fail("NSHipster: \(error.localizedDescription)", status: 1)
    }
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(status)
  }

  let context: NSManagedObjectContext

  func write() throws {
    let (mattt, nate) = (Author(context: context), Author(context: context))
    mattt.name = "Mattt"
    nate.name = "Nate"
    for (title, rating, author) in [("NSIncrementalStore", 9.5, mattt), ("Bags", 7, mattt), ("Literals", 8, nate)] {
      let article = Article(context: context)
      article.title = title
      article.rating = rating
      article.author = author
    }
    try context.save()
    print("two authors and three articles saved")
  }

  func read() throws {
    for author in try authors() {
      print(author.name!)
      for article in author.articles!.array as! [Article] { print("  \(article.title!)") }
    }
    let best = try best()
    print("the best is \(best.title!) by \(best.author!.name!)")
  }

  func move() throws {
    let (best, authors) = (try best(), try authors())
    for author in authors { print("articles of \(author.name!): \(author.articles!.count)") }
    best.author = authors.first { $0 != best.author }
    try context.save()
    print("\(best.title!) is by \(best.author!.name!) now")
    for author in authors { print("articles of \(author.name!): \(author.articles!.count)") }
  }

  private func authors() throws -> [Author] {
    let request: NSFetchRequest<Author> = Author.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  private func best() throws -> Article {
    let request: NSFetchRequest<Article> = Article.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
    request.fetchLimit = 1
    return try context.fetch(request)[0]
  }
}
