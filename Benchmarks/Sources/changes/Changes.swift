import ArgumentParser
import Cairn
import Foundation

/// Measures what it costs to read the changes of a store, and to wait for them.
@main
struct Changes: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures how fast changes are read, what waiting for them costs, and what it costs to keep deletions.",
    discussion: """
      A store has rows of 100 bytes. A tenth of them is replaced, at random, and its changes are read: from the log as it \
      was written, and after everything has been compacted. Then one thread puts rows durably while feeds wait.
      """)

  @Option(help: "Rows of the store.")
  var rows = 1_000_000

  @Option(help: "Rounds.")
  var rounds = 5

  @Option(help: "Durable puts of a round.")
  var puts = 2_000

  @Option(help: "Where the store is made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    guard rows >= 10, rounds > 0, puts > 0 else { throw ValidationError("Every number is at least one, and rows ten.") }
  }

  func run() async throws {
    let url = URL(filePath: directory).appending(path: "cairn-changes-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    var options = StoreOptions()
    options.compacts = false
    let store = try Store.open(at: url.path, options: options)
    defer { try? store.close() }
    let keyspace = try store.keyspace("rows")
    try write(keyspace, store, rows) { Int64($0) }
    try read(store, keyspace)
    try await wait(store, keyspace)
  }

  private func write(_ keyspace: Keyspace, _ store: Store, _ count: Int, _ key: (Int) -> Int64) throws {
    var value = [UInt8](repeating: 7, count: 100)
    for start in stride(from: 0, to: count, by: 100) {
      try store.write(durability: .buffered) { batch in
        for number in start..<min(start + 100, count) {
          let serial = UInt64.random(in: 0...UInt64.max)
          value.replaceSubrange(0..<8, with: withUnsafeBytes(of: serial) { Array($0) })
          try keyspace.put(value, at: key(number), in: &batch)
        }
      }
    }
  }

  // MARK: Reading

  private func read(_ store: Store, _ keyspace: Keyspace) throws {
    print("a store of \(rows) rows, median of \(rounds) rounds, microseconds a change\n")
    print(Self.line(["", "median", "least", "most"]))
    var moved: [Double] = []
    try report("\(rows / 10) changes in the log") {
      let position = try store.read { try $0.position() }
      try write(keyspace, store, rows / 10) { _ in .random(in: 0..<Int64(rows)) }
      let time = try readAll(store, position)
      try store.compact(.everything)
      moved.append(try readAll(store, position))
      return time
    }
    var times = moved[...]
    try report("the same after a compaction of everything") { times.removeFirst() }
    try report("all rows of a snapshot") {
      let snapshot = store.snapshot()
      let start = ContinuousClock.now
      var cursor = keyspace.cursor(at: snapshot)
      var count = 0
      while try cursor.next() != nil { count += 1 }
      return (ContinuousClock.now - start) / .seconds(1) / Double(count) * 1e6
    }
    let position = try store.read { try $0.position() }
    try report("nothing, 1,000 calls") {
      var cursor = try store.changes(since: position)
      let start = ContinuousClock.now
      for _ in 0..<1000 { guard try cursor.next() == nil else { fatalError("There is a change.") } }
      return (ContinuousClock.now - start) / .seconds(1) / 1000 * 1e6
    }
  }

  /// Microseconds a change.
  private func readAll(_ store: Store, _ position: ChangePosition) throws -> Double {
    var cursor = try store.changes(since: position)
    let start = ContinuousClock.now
    var count = 0
    while let commit = try cursor.next() { count += commit.changes.count }
    return (ContinuousClock.now - start) / .seconds(1) / Double(count) * 1e6
  }

  // MARK: Waiting

  private func wait(_ store: Store, _ keyspace: Keyspace) async throws {
    print("\na durable put of one thread beside feeds that wait for its change, microseconds\n")
    print(Self.line(["", "median", "least", "most"]))
    for count in [0, 1, 100, 1000] {
      let position = try store.read { try $0.position() }
      let tasks = try (0..<count).map { _ in
        let feed = try store.changeFeed(since: position)
        return Task { for try await _ in feed {} }
      }
      try report("\(count) feeds") {
        let start = ContinuousClock.now
        for _ in 0..<puts { try keyspace.put([1, 2, 3], at: Int64.random(in: 0..<Int64(rows))) }
        return (ContinuousClock.now - start) / .seconds(1) / Double(puts) * 1e6
      }
      for task in tasks { task.cancel() }
      for task in tasks { try await task.value }
    }
    let position = try store.read { try $0.position() }
    let before = try Self.privateBytes()
    let count = 10_000
    let tasks = try (0..<count).map { _ in
      let feed = try store.changeFeed(since: position)
      return Task { for try await _ in feed {} }
    }
    try await Task.sleep(for: .seconds(1))
    let processor = Self.processorTime
    try await Task.sleep(for: .seconds(5))
    let used = (Self.processorTime - processor) / 5 * 1000
    print(
      "\n\(count) feeds that wait: \((try Self.privateBytes() - before) / count) bytes of memory each, "
        + "\(String(format: "%.2f", used)) ms of processor time a second")
    for task in tasks { task.cancel() }
    for task in tasks { try await task.value }
  }

  private static func privateBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    return text.split(separator: "\n").reduce(0) { sum, line in
      let fields = line.split(separator: " ")
      guard fields.count > 1, ["Private_Clean:", "Private_Dirty:"].contains(fields[0]) else { return sum }
      return sum + (Int(fields[1]) ?? 0) * 1024
    }
  }

  /// What this process has used so far, in seconds.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func report(_ name: String, _ measure: () throws -> Double) throws {
    var figures: [Double] = []
    for _ in 0..<rounds { figures.append(try measure()) }
    figures.sort()
    print(
      Self.line([name] + [figures[rounds / 2], figures[0], figures[rounds - 1]].map { String(format: "%.2f", $0) }))
  }

  private static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, (column == 0 ? 44 : 10) - cell.count))
      return column == 0 ? cell + space : space + cell
    }.joined()
  }
}
