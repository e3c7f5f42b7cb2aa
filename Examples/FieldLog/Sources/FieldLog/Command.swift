import CoreData

/// A command about the log, or about the entry that is being edited.
enum Command {
  case site(String)
  case note(site: String, species: String, count: Int32)
  case edit(String)
  case delete(String)
  case list
  case count(Int32)
  case measure(part: String, millimetres: Double)
  case first(String)
  case show
  case save
  case discard
  case undo
  case redo

  static let usage = """
    usage: FieldLog STORE COMMAND...

    Keeps what was seen at some sites in the directory STORE. The commands are run one after the other.

      site NAME                  add a site
      note SITE SPECIES COUNT    begin an entry, and edit it
      edit SPECIES               edit an entry
      delete SPECIES             delete an entry
      list                       print all entries that are saved, by site
      undo, redo                 take back the last change, or make it again

    While an entry is edited, undo and redo are about the entry, and there are these commands, too:

      count COUNT                set how many were seen
      measure PART MILLIMETRES   add a measurement, or change it
      first PART                 put a measurement before the others
      show                       print the entry
      save                       save the entry, and end editing it
      discard                    end editing without saving
    """

  /// Parses the arguments; nil if there is no command or something that is not a command.
  static func parse(_ arguments: some Collection<String>) -> [Command]? {
    var words = ArraySlice(arguments)
    var commands: [Command] = []
    while let word = words.popFirst() {
      guard let (command, argumentCount) = command(word, Array(words.prefix(3))) else { return nil }
      commands.append(command)
      words = words.dropFirst(argumentCount)
    }
    return commands.isEmpty ? nil : commands
  }

  /// The command that a word names, and how many of the words after it belong to it.
  private static func command(_ word: String, _ next: [String]) -> (Command, Int)? {
    switch (word, next.count) {
    case ("list", _): (.list, 0)
    case ("show", _): (.show, 0)
    case ("save", _): (.save, 0)
    case ("discard", _): (.discard, 0)
    case ("undo", _): (.undo, 0)
    case ("redo", _): (.redo, 0)
    case ("site", 1...): (.site(next[0]), 1)
    case ("edit", 1...): (.edit(next[0]), 1)
    case ("delete", 1...): (.delete(next[0]), 1)
    case ("first", 1...): (.first(next[0]), 1)
    case ("count", 1...): Int32(next[0]).map { (.count($0), 1) }
    case ("measure", 2...): Double(next[1]).map { (.measure(part: next[0], millimetres: $0), 2) }
    case ("note", 3...): Int32(next[2]).map { (.note(site: next[0], species: next[1], count: $0), 3) }
    default: nil
    }
  }

  /// What is printed before the command is performed.
  var title: String {
    switch self {
    case .site(let name): "site \(name)"
    case .note(let site, let species, let count): "note \(site) \(species) \(count)"
    case .edit(let species): "edit \(species)"
    case .delete(let species): "delete \(species)"
    case .count(let count): "count \(count)"
    case .measure(let part, let millimetres): "measure \(part) \(String(format: "%g", millimetres))"
    case .first(let part): "first \(part)"
    case .list, .show, .save, .discard, .undo, .redo: "\(self)"
    }
  }
}
