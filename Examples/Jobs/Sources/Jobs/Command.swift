import Foundation

/// A command about jobs.
enum Command {
  case time(Int)
  case add(String, queue: String)
  case work(queue: String)
  case list
  case forget
  case backup(String)
  case restore(String)

  static let usage = """
    usage: Jobs STORE COMMAND...

    Keeps queues of jobs in the directory STORE. The commands are run one after the other.

      at SECONDS          let the next commands happen at this time
      add QUEUE NAME      add a job that is due at once
      work QUEUE          let four workers do all jobs that are due; those whose names begin with "bad" fail
      list                print all jobs
      forget              forget the jobs that ended more than a minute ago
      backup DIRECTORY    make a backup while the next commands run
      restore DIRECTORY   make STORE of a backup; only as the first command
    """

  /// Parses the arguments; nil if there is no command or something that is not a command.
  static func parse(_ arguments: some Collection<String>) -> [Command]? {
    var words = ArraySlice(arguments)
    var commands: [Command] = []
    while let word = words.popFirst() {
      switch (word, words.first, words.dropFirst().first) {
      case ("at", let seconds?, _):
        guard let seconds = Int(seconds) else { return nil }
        commands.append(.time(seconds))
        words.removeFirst()
      case ("add", let queue?, let name?):
        commands.append(.add(name, queue: queue))
        words.removeFirst(2)
      case ("work", let queue?, _):
        commands.append(.work(queue: queue))
        words.removeFirst()
      case ("backup", let directory?, _):
        commands.append(.backup(directory))
        words.removeFirst()
      case ("restore", let directory?, _) where commands.isEmpty:
        commands.append(.restore(directory))
        words.removeFirst()
      case ("list", _, _): commands.append(.list)
      case ("forget", _, _): commands.append(.forget)
      default: return nil
      }
    }
    return commands.isEmpty ? nil : commands
  }
}
