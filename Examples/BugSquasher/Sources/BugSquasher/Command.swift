/// A command about bugs.
enum Command {
  case add(String)
  case list
  case edit(String, newTitle: String)
  case squash(String)

  static let usage = """
    usage: BugSquasher DIRECTORY COMMAND...

    Keeps bugs in DIRECTORY/bugs.txt. The commands are run one after the other:

      add TITLE         add a bug
      list              print all bugs, sorted by title
      edit TITLE NEW    change the title of a bug
      squash TITLE      delete a bug
    """

  /// Parses the arguments; nil if there is no command or something that is not a command.
  static func parse(_ arguments: some Collection<String>) -> [Command]? {
    var words = ArraySlice(arguments)
    var commands: [Command] = []
    while let word = words.popFirst() {
      switch (word, words.first, words.dropFirst().first) {
      case ("add", let title?, _): commands.append(.add(title))
      case ("list", _, _): commands.append(.list)
      case ("edit", let title?, let newTitle?): commands.append(.edit(title, newTitle: newTitle))
      case ("squash", let title?, _): commands.append(.squash(title))
      default: return nil
      }
      words = words.dropFirst(commands.last!.argumentCount)
    }
    return commands.isEmpty ? nil : commands
  }

  private var argumentCount: Int {
    switch self {
    case .list: 0
    case .add, .squash: 1
    case .edit: 2
    }
  }
}
