import CoreData

/// A feed on the web. There is no web here: what a feed offers follows from its number.
struct WebFeed: Sendable {
  private static let places = ["Pond", "Harbour", "Åland", "Forest", "Moor", "Garden", "Marsh", "Cliff", "Isle"]

  let number: Int

  init(number: Int) { self.number = number }

  init?(url: String) {
    guard let number = url.split(separator: "/").last.flatMap({ Int($0) }) else { return nil }
    self.number = number
  }

  var url: String { "https://example.org/feeds/\(number)" }

  var title: String {
    let (round, place) = number.quotientAndRemainder(dividingBy: Self.places.count)
    return round == 0 ? Self.places[place] : "\(Self.places[place]) \(round + 1)"
  }

  /// The articles that feeds have had until now, of all feeds together.
  static func archive(feeds: Int, articles: Int) -> some Sequence<WebArticle> & Sendable {
    (0..<articles).lazy.map { WebArticle(feed: WebFeed(number: $0 % feeds), number: $0 / feeds + 1, isKnown: false) }
  }

  /// What the feed offers to those who have its articles until a date: its last articles before that, some of them
  /// corrected, and two new ones.
  func latest(since date: Date?) -> [WebArticle] {
    let last = date.map(WebArticle.number(at:)) ?? 0
    return (max(1, last - 9)...last + 2).map { WebArticle(feed: self, number: $0, isKnown: $0 <= last) }
  }
}

/// An article of a feed on the web.
struct WebArticle: Sendable {
  private static let birds = ["heron", "kestrel", "bittern", "avocet", "dipper", "siskin", "plover"]
  private static let deeds = ["at dawn", "with chicks", "counted again", "in the rain", "lost and found"]
  private static let authors = ["Ann", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jo", "Kit"]
  private static let firstDay = Date(timeIntervalSinceReferenceDate: 788_918_400)
  private static let hour = 3600.0

  let feed: WebFeed
  let number: Int
  let isKnown: Bool

  var guid: String { "\(feed.url)/\(number)" }

  var title: String {
    let bird = Self.birds[(number + feed.number) % Self.birds.count]
    let deed = Self.deeds[number % Self.deeds.count]
    return "\(feed.title) \(number): \(bird) \(deed)" + (isKnown && number.isMultiple(of: 10) ? " (corrected)" : "")
  }

  var author: String { Self.authors[(number + feed.number) % Self.authors.count] }

  /// An article appears each hour, some seconds after those of the feeds before.
  var published: Date { Self.firstDay.addingTimeInterval(Self.hour * Double(number) + Double(feed.number)) }

  /// The number of the article that was published at a time.
  static func number(at date: Date) -> Int { Int(date.timeIntervalSince(firstDay) / hour) }
}
