import Cairn
import CairnSimulation
import Synchronization
import Testing

/// A store that is opened while it is open, or being opened, in the same process.
@Suite struct OpenTwiceTests {
  private let machine = Machine()

  private func fill(_ path: String) throws {
    let store = try machine.open(at: path)
    try store.put([1], at: 1, in: store.keyspace("rows"))
    try store.close()
  }

  @Test("G23: While a store is being opened its thread can open another store; opening the same one is refused.")
  func withinAnOpening() throws {
    try fill("/a")
    try fill("/b")
    let found = Lock<[String]>([])
    var options = Machine.options
    options.recoveryProgress = { [machine] _ in
      for path in ["/a", "/b", "/new"] {
        do {
          let store = try machine.open(at: path)
          found.withLock { $0.append("\(path) \(store.statistics.rows)") }
        } catch {
          found.withLock { $0.append("\(path) \((error as? StoreError)?.code.description ?? "\(error)")") }
        }
      }
      return true
    }
    let store = try machine.open(options, at: "/a")
    #expect(found.withLock { $0 } == ["/a locked", "/b 1", "/new 0"])
    #expect(store.statistics.rows == 1)
  }

  @Test("G23: Opening one store waits only for another opening of the same store, and returns that store.")
  func besideAnOpening() throws {
    try fill("/a")
    try fill("/b")
    let held = Monitor((hasArrived: false, mayGoOn: false))
    var options = Machine.options
    options.recoveryProgress = { _ in
      held.withLock { $0.hasArrived = true }
      return held.wait { $0.mayGoOn ? true : nil }
    }
    let slow = options
    let stores = Lock<[Store]>([])
    let threads = Threads()
    threads.start { [machine] in
      let store = try machine.open(slow, at: "/a")
      stores.withLock { $0.append(store) }
    }
    held.wait { $0.hasArrived ? () : nil }
    // If this waited for the other opening, the test would never end.
    #expect(try machine.open(at: "/b").statistics.rows == 1)
    for _ in 0..<3 {
      threads.start { [machine] in
        let store = try machine.open(at: "/a")
        stores.withLock { $0.append(store) }
      }
    }
    held.withLock { $0.mayGoOn = true }
    try threads.join()
    let opened = stores.withLock { $0 }
    #expect(opened.count == 4)
    #expect(opened.allSatisfy { $0 === opened[0] })
  }

  @Test("G15: Opening an open store with other options is refused.") func otherOptions() throws {
    let store = try machine.open()
    var same = Machine.options
    same.segmentSize = 1 << 20
    same.createsIfMissing = false
    same.filePermissions = 0o644
    same.recoveryProgress = { _ in true }
    #expect(try machine.open(same) === store)
    let changes: [(inout StoreOptions) -> Void] = [
      { $0.compresses = false }, { $0.trainsDictionaries = false }, { $0.writesCheckpoints = false },
      { $0.compacts = false },
      { $0.upTo = 3 },
    ]
    for change in changes {
      var options = Machine.options
      change(&options)
      #expect(failure { _ = try machine.open(options) }?.code == .optionsMismatch)
      var readOnly = options
      readOnly.access = .readOnly
      #expect(try machine.open(readOnly) !== store)
    }
    #expect(try machine.open() === store)
  }

  @Test("G15: A poisoned store can be opened anew while somebody still refers to it.") func poisoned() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([1], at: 1, in: rows)
    machine.files.failNext(.sync, with: .system(5))
    #expect(failure { try store.put([2], at: 2, in: rows) }?.code == .poisoned)
    let again = try machine.open()
    #expect(again !== store)
    #expect(failure { try store.put([3], at: 3, in: rows) }?.code == .closed)
    #expect(try store.get(1, in: rows) == [1])
    try again.put([4], at: 4, in: again.keyspace("rows"))
    #expect(try machine.open() === again)
    #expect(try machine.crash().open().statistics.rows >= 2)
  }

  @Test("G15: A closed store can be opened again by any thread, and is never locked by its own process.")
  func closingAndOpening() throws {
    let machine = machine
    let threads = Threads()
    for thread in 0..<4 as Range<Int64> {
      threads.start {
        for round in 0..<60 as Range<Int64> {
          let store = try machine.openThreaded()
          let error = failure {
            try store.put([1], at: [.integer(thread), .integer(round)], in: store.keyspace("rows"))
          }
          if let error, error.code != .closed { throw error }
          if round % 3 != 0 { try store.close() }
        }
      }
    }
    try threads.join()
    let store = try machine.openThreaded()
    #expect(store.statistics.rows > 0)
    try store.close()
  }
}
