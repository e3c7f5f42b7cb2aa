import Cairn
import CairnSimulation
import Synchronization
import Testing

@Suite struct WholeCommitConcurrencyTests {
  private static let rows: Int64 = 10_000

  @Test("G3: Readers see nothing of a large commit while it is entered into the index.")
  func largeCommits() throws {
    let store = try Machine().open()
    let keyspace = try store.keyspace("rows")
    func write(_ round: UInt8) throws {
      try store.write(durability: .buffered) { batch in
        for row in 0..<Self.rows { try batch.put([round], at: .integer(row), in: keyspace) }
      }
    }
    try write(0)
    let isOver = Atomic<Bool>(false)
    let readers = Threads()
    for _ in 0..<2 {
      readers.start {
        while !isOver.load(ordering: .acquiring) {
          let values = try store.read { snapshot in
            try snapshot.get(many: [0, 2500, 5000, 7500, .integer(Self.rows - 1)], in: keyspace)
          }
          if Set(values).count > 1 { throw Mismatch("some rows of a commit, and not all of them: \(values)") }
        }
      }
    }
    let outcome = Result { for round in 1..<16 as Range<UInt8> { try write(round) } }
    isOver.store(true, ordering: .releasing)
    try readers.join()
    try outcome.get()
    try store.close()
  }
}
