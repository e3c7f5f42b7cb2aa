import ArgumentParser
import Cairn
import Foundation

/// Measures how a reader in another process keeps up with a writer.
@main
struct Readers: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures how long a store opened for reading takes to advance, and how soon a process learns of a save.",
    discussion: """
      A store of rows of 100 bytes is written and refreshed by turns; what is new is rows that are replaced, at random. \
      Then a second process saves an object now and then, and this one, which is told of it, fetches the object by the \
      history.
      """)

  @Option(help: "Rows of the store.")
  var rows = 1_000_000

  @Option(help: "Rounds.")
  var rounds = 5

  @Option(help: "Saves of the second process.")
  var saves = 200

  @Option(help: "Where the stores are made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  @Option(help: ArgumentHelp("The store to save to, for the second process.", visibility: .private))
  var writer: String?

  func validate() throws {
    guard rows > 0, rounds > 0, saves > 0 else { throw ValidationError("Every number is at least one.") }
  }

  func run() throws {
    if let writer { return try Announcements.save(saves, at: URL(filePath: writer)) }
    let url = URL(filePath: directory).appending(path: "readers \(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: url) }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try advance(url.appending(path: "rows").path)
    try Announcements.measure(saves, at: url.appending(path: "objects"))
  }

  private func advance(_ path: String) throws {
    var options = StoreOptions()
    options.compacts = false
    let writer = try Store.open(at: path, options: options)
    let keyspace = try writer.keyspace("rows")
    var value = [UInt8](repeating: 7, count: 100)
    var serial: UInt64 = 0
    func write(_ count: Int, _ key: (Int) -> Int64) throws {
      for start in stride(from: 0, to: count, by: 1000) {
        try writer.write(durability: .buffered) { batch in
          for number in start..<min(start + 1000, count) {
            serial += 1
            value.replaceSubrange(0..<8, with: withUnsafeBytes(of: serial) { Array($0) })
            try keyspace.put(value, at: key(number), in: &batch)
          }
        }
      }
    }
    try write(rows) { Int64($0) }
    options.access = .readOnly
    let reader = try Store.open(at: path, options: options)
    print("a store of \(rows) rows, median of \(rounds) rounds, microseconds\n")
    print(Self.line(["", "median", "least", "most"]))
    for count in [0, 1, 100, 10_000, 100_000] {
      try report("\(count) rows are new") {
        try write(count) { _ in .random(in: 0..<Int64(rows)) }
        return try Self.time { try reader.refresh() }
      }
    }
    try report("all rows have been compacted") {
      try writer.compact(.everything)
      return try Self.time { try reader.refresh() }
    }
    guard reader.lastSequence == writer.lastSequence else { fatalError("The reader has not kept up.") }
    try report("the store is opened again") {
      try Self.time { try Store.open(at: path, options: options).close() }
    }
    try reader.close()
    try writer.close()
  }

  private func report(_ name: String, _ measure: () throws -> Double) throws {
    var times: [Double] = []
    for _ in 0..<rounds { times.append(try measure()) }
    times.sort()
    print(
      Self.line([name] + [times[rounds / 2], times[0], times[rounds - 1]].map { String(format: "%.1f", $0 * 1e6) }))
  }

  private static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, (column == 0 ? 32 : 14) - cell.count))
      return column == 0 ? cell + space : space + cell
    }.joined()
  }
}
