/// A command about feeds and their articles.
enum Command {
  case subscribe(feeds: Int, articles: Int)
  case update
  case feeds
  case list(feed: String)
  case unread
  case starred
  case search(String)
  case read(title: String)
  case star(title: String)
  case forgetOld(days: Int)

  static let usage = """
    usage: FeedReader STORE COMMAND...

    Keeps the articles of feeds in the directory STORE. The commands are run one after the other. The feeds are made
    up, and every run makes up the same.

      subscribe FEEDS ARTICLES    read so many feeds, which have so many articles together
      update                      read what is new in the feeds
      feeds                       print the feeds and how many of their articles are unread
      list FEED                   print the newest articles of a feed
      unread, starred             print the newest unread articles, or those with a star
      search WORD                 print the newest articles with a word in their title; case and accents do not count
      read TITLE                  mark an article as read
      star TITLE                  mark an article with a star
      forget-old DAYS             delete articles that are so many days older than the newest and have no star
    """

  /// Parses the arguments; nil if there is no command or something that is not a command.
  static func parse(_ arguments: some Collection<String>) -> [Command]? {
    var words = ArraySlice(arguments)
    var commands: [Command] = []
    while let word = words.popFirst() {
      guard let (command, argumentCount) = command(word, Array(words.prefix(2))) else { return nil }
      commands.append(command)
      words = words.dropFirst(argumentCount)
    }
    return commands.isEmpty ? nil : commands
  }

  /// The command that a word names, and how many of the words after it belong to it.
  private static func command(_ word: String, _ next: [String]) -> (Command, Int)? {
    switch (word, next.count) {
    case ("update", _): (.update, 0)
    case ("feeds", _): (.feeds, 0)
    case ("unread", _): (.unread, 0)
    case ("starred", _): (.starred, 0)
    case ("list", 1...): (.list(feed: next[0]), 1)
    case ("search", 1...): (.search(next[0]), 1)
    case ("read", 1...): (.read(title: next[0]), 1)
    case ("star", 1...): (.star(title: next[0]), 1)
    case ("forget-old", 1...): number(next[0], atLeast: 0).map { (.forgetOld(days: $0), 1) }
    case ("subscribe", 2...):
      if let feeds = number(next[0], atLeast: 1), let articles = number(next[1], atLeast: 0) {
        (.subscribe(feeds: feeds, articles: articles), 2)
      } else {
        nil
      }
    default: nil
    }
  }

  private static func number(_ word: String, atLeast least: Int) -> Int? { Int(word).flatMap { $0 < least ? nil : $0 } }
}
