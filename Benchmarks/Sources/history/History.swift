import ArgumentParser
import Foundation

/// Measures what the history of a store costs.
@main
struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures saves with and without persistent history, on Cairn, and a reader that follows many saves.",
    discussion: """
      Saves are durable. A round makes two stores, which take turns in beginning, and saves the same objects of four \
      attributes in both. The reader fetches the history after each hundred saves, which are buffered, and merges it.
      """)

  @Option(help: "Saves of one object in a round.")
  var saves = 1000

  @Option(help: "Saves of 1,000 objects in a round.")
  var largeSaves = 50

  @Option(help: "Rounds.")
  var rounds = 5

  @Option(help: "Saves that the reader follows; 0 for none.")
  var followed = 100_000

  @Option(help: "How many transactions the store that the reader follows keeps.")
  var kept = 10_000

  @Option(help: "Where the stores are made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    guard saves > 0, largeSaves > 0, rounds > 0, followed >= 0, kept >= 0 else {
      throw ValidationError("There is at least one save of each kind and one round.")
    }
  }

  func run() throws {
    let url = URL(filePath: directory).appending(path: "history \(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: url) }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    print("median of \(rounds) rounds, microseconds for a save, and the ratio to a save without history\n")
    print(Self.line(["", "without", "with", "ratio", "least", "most"]))
    for (count, objects) in [(saves, 1), (largeSaves, 1000)] {
      var times: [(without: Double, with: Double)] = []
      for round in 0..<rounds {
        let shelves = try [false, true].map {
          try Shelf(at: url.appending(path: "\(objects) \(round) \($0)"), history: $0)
        }
        var time = [0.0, 0.0]
        for save in 0..<count {
          for place in save.isMultiple(of: 2) ? [0, 1] : [1, 0] { time[place] += try shelves[place].save(objects) }
        }
        times.append((time[0] / Double(count), time[1] / Double(count)))
        for shelf in shelves { try shelf.close() }
      }
      let ratios = times.map { $0.with / $0.without }.sorted()
      print(
        Self.line(
          [
            "\(objects) objects a save", Self.micro(Self.median(times.map(\.without))),
            Self.micro(Self.median(times.map(\.with))),
          ]
            + [Self.median(ratios), ratios[0], ratios[rounds - 1]].map { String(format: "%.3f", $0) }))
    }
    if followed > 0 { try follow(url.appending(path: "followed")) }
  }

  private func follow(_ url: URL) throws {
    print("\na reader follows \(followed) saves that change ten objects; \(kept) transactions are kept\n")
    print(Self.line(["saves", "MiB of memory", "MiB of files"]))
    let shelf = try Shelf(at: url, history: true, isDurable: false, kept: kept)
    try shelf.makeTen()
    let reader = try shelf.reader()
    for part in 1...10 {
      for save in 0..<followed / 10 {
        try shelf.changeOne(save)
        if save % 100 == 99 { try reader.follow() }
      }
      try reader.follow()
      print(Self.line(["\(followed / 10 * part)", Self.memory, Self.mega(Self.bytes(at: url))]))
    }
    try shelf.deleteHistory()
    print(Self.line(["history deleted, compacted", Self.memory, Self.mega(Self.bytes(at: url))]))
    try reader.close()
    try shelf.close()
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func micro(_ seconds: Double) -> String { String(format: "%.1f", seconds * 1e6) }

  private static func mega(_ bytes: Int) -> String { String(format: "%.1f", Double(bytes) / 1_048_576) }

  /// The memory of the process without pages of files, in MiB.
  private static var memory: String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map {
      String(format: "%.1f", $0 / 1024)
    }
      ?? "?"
  }

  /// The bytes that the files in a directory take on the disk.
  private static func bytes(at url: URL) -> Int {
    let files = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
    return files.reduce(0) { sum, file in
      sum + ((try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber)?.intValue ?? 0)
    }
  }

  private static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, (column == 0 ? 28 : 15) - cell.count))
      return column == 0 ? cell + space : space + cell
    }.joined()
  }
}
