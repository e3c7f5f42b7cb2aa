import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A first argument that is neither a command nor an existing path.
struct MistypedCommand: CustomStringConvertible {
  private let word: String
  private let similar: String?

  /// Nil if the first argument is not such a mistake.
  init?(_ arguments: ArraySlice<String>) {
    let names = Kvdump.configuration.subcommands.compactMap { $0.configuration.commandName }
    guard let word = arguments.first, !word.isEmpty, !word.hasPrefix("-"), !word.contains("/"), word != "help",
      !names.contains(word), unsafe access(word, F_OK) != 0
    else { return nil }
    self.word = word
    similar = names.map { ($0, Self.distance(Array($0), Array(word))) }.filter { $0.1 <= 2 }.min { $0.1 < $1.1 }?.0
  }

  var description: String {
    "\(word) is neither a command nor a store; "
      + (similar.map { "did you mean \($0)?" } ?? "kvdump --help lists the commands")
  }

  /// The number of characters to insert, remove, replace, or exchange with the next one, to turn one word into the
  /// other: the optimal string alignment distance.
  private static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var rows = [Array(0...second.count)]
    for (place, character) in first.enumerated() {
      var row = [place + 1]
      for (column, other) in second.enumerated() {
        let replacing = rows[place][column] + (character == other ? 0 : 1)
        var least = min(rows[place][column + 1] + 1, row[column] + 1, replacing)
        if place > 0, column > 0, character == second[column - 1], first[place - 1] == other {
          least = min(least, rows[place - 1][column - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }
}
