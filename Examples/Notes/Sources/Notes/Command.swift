/// A command about notes.
enum Command {
  case list
  case add(String, folder: String)
  case importFile(String)
  case rename(String, to: String)
  case considerRenaming(String, to: String)
  case move(String, folder: String)
  case delete(String)
  case undo
  case redo

  static let usage = """
    usage: Notes STORE COMMAND...

    Keeps notes in the directory STORE. The commands are run one after the other; what changes in the list is
    printed as it changes.

      list                    print all notes, by folder
      add FOLDER TITLE        add a note
      import FILE             add the notes of a file, one in each line: FOLDER/TITLE
      rename TITLE NEW        change the title of a note
      consider TITLE NEW      change the title of a note in an editor, and close the editor without saving
      move TITLE FOLDER       put a note into another folder
      delete TITLE            delete a note
      undo, redo              take back the last change, or make it again
    """

  /// Parses the arguments; nil if there is no command or something that is not a command.
  static func parse(_ arguments: some Collection<String>) -> [Command]? {
    var words = ArraySlice(arguments)
    var commands: [Command] = []
    while let word = words.popFirst() {
      let first = words.first
      let second = words.dropFirst().first
      switch (word, first, second) {
      case ("list", _, _): commands.append(.list)
      case ("add", let folder?, let title?): commands.append(.add(title, folder: folder))
      case ("import", let file?, _): commands.append(.importFile(file))
      case ("rename", let title?, let new?): commands.append(.rename(title, to: new))
      case ("consider", let title?, let new?): commands.append(.considerRenaming(title, to: new))
      case ("move", let title?, let folder?): commands.append(.move(title, folder: folder))
      case ("delete", let title?, _): commands.append(.delete(title))
      case ("undo", _, _): commands.append(.undo)
      case ("redo", _, _): commands.append(.redo)
      default: return nil
      }
      words = words.dropFirst(commands.last?.argumentCount ?? 0)
    }
    return commands.isEmpty ? nil : commands
  }

  private var argumentCount: Int {
    switch self {
    case .list, .undo, .redo: 0
    case .importFile, .delete: 1
    case .add, .rename, .considerRenaming, .move: 2
    }
  }
}
