import Cairn
import CairnSimulation
import Synchronization
import Testing

/// Histories read while rows are written, compacted, and put into checkpoints.
@Suite struct HistoryReadingConcurrencyTests {
  private static let rows: Int64 = 8
  private static let kept = 4

  @Test("G7: A history is complete at every moment, and the history in a snapshot does not change.")
  func whole() throws {
    var options = Machine.options
    options.writesCheckpoints = false
    options.compacts = false
    let store = try Machine().openThreaded(options)
    let keyspace = try store.keyspace("rows")
    try store.setRetention(.last(Self.kept), of: keyspace)
    for _ in 0..<Self.kept { for row in 0..<Self.rows { try write(store, keyspace, row) } }
    let isOver = Mutex(false)
    let threads = Threads()
    threads.start {
      for round in 0..<chooseRounds(20_000, debug: 2000) {
        try write(store, keyspace, Int64(round) % Self.rows)
        if round % 400 == 0 { try store.compact(.everything) }
        if round % 700 == 0 { try store.checkpoint() }
      }
      isOver.withLock { $0 = true }
    }
    for reader in 0..<2 as Range<Int64> {
      threads.start {
        var row = reader
        while !isOver.withLock({ $0 }) {
          row = (row + 3) % Self.rows
          check(try store.history(of: .integer(row), in: keyspace))
          try store.read { snapshot in
            let history = try snapshot.history(of: .integer(row), in: keyspace)
            check(history)
            for _ in 0..<5 {
              guard try snapshot.history(of: .integer(row), in: keyspace) != history else { continue }
              Issue.record("the history of commit \(snapshot.sequence) has changed")
            }
            guard try snapshot.row(.integer(row), in: keyspace)?.value != history[0].value else { return }
            Issue.record("the newest version is not the row's value")
          }
        }
      }
    }
    try threads.join()
    // Background work that held the writer when the last snapshot ended drops what that snapshot needed, soon after.
    try store.close()
    #expect(store.statistics.olderVersions == Int(Self.rows) * (Self.kept - 1))
    #expect(store.statistics.pinnedBytes == 0)
  }

  /// Gives each row the version after the one before. After a version whose number is a multiple of five comes a
  /// deletion, and then the numbers begin again at 1.
  private func write(_ store: Store, _ keyspace: Keyspace, _ row: Int64) throws {
    let newest = try store.history(of: .integer(row), in: keyspace).first
    try store.write(durability: .buffered) { batch in
      if let newest, !newest.isDeletion, newest.version % 5 == 0 {
        try batch.delete(.integer(row), in: keyspace)
      } else {
        try batch.put([UInt8](repeating: 7, count: 40), at: .integer(row), in: keyspace)
      }
    }
  }

  private func check(_ history: [RowVersion]) {
    let isWhole = zip(history, history.dropFirst()).allSatisfy { newer, older in
      let next = older.isDeletion ? 1 : newer.isDeletion ? older.version : older.version + 1
      return newer.sequence > older.sequence && newer.version == next
    }
    if history.count != Self.kept || !isWhole { Issue.record("\(history.map { ($0.sequence, $0.version) })") }
  }
}
