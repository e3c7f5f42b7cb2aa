import CForking
import Cairn
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process with an open store, and its children. Each test runs in a process of its own.
@Suite struct ForkTests {
  @Test("D23: Each call in a child process throws `forked`, changes nothing, and waits for nobody.")
  func calls() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        let store = try Store.open(at: "\(directory)/store")
        let rows = try store.keyspace("rows")
        try store.put([1], at: 1, in: rows)
        let snapshot = store.snapshot()
        for fork in [forking_fork, forking_bare_fork] {
          try child(fork) { try expectNothingWorks(store, snapshot, rows) }
          try store.put([2], at: 2, in: rows)
          #expect(try snapshot.get(1, in: rows) == [1])
        }
        snapshot.close()
        try store.close()
        let again = try Store.open(at: "\(directory)/store")
        demand(try again.get(2, in: again.keyspace("rows")) == [2], "1")
        demand(again.lastSequence == 3, "2")
      }
    }
  }

  @Test("D23: A child can open its parent's store only after the parent has closed it, and then blocks nobody.")
  func opening() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        let path = "\(directory)/store"
        let other = "\(directory)/other"
        let store = try Store.open(at: path)
        let rows = try store.keyspace("rows")
        try store.put([1], at: 1, in: rows)
        for fork in [forking_fork, forking_bare_fork] {
          try child(fork) {
            demand(failure { _ = try Store.open(at: path) }?.code == .locked, "3")
            // A store that the child opens itself belongs to the child.
            let own = try Store.open(at: other)
            try own.put([3], at: 3, in: own.keyspace("rows"))
            try own.close()
          }
          try store.put([2], at: 2, in: rows)
        }
        // This child is still running when the parent closes the store.
        let (turn, done) = (try Pipe(), try Pipe())
        let process = forking_fork()
        if process == 0 {
          turn.wait()
          let own = try Store.open(at: path)
          demand(try own.get(2, in: own.keyspace("rows")) == [2], "4")
          try own.put([4], at: 4, in: own.keyspace("rows"))
          // The store inherited from the parent is still unusable.
          demand(failure { try store.put([5], at: 5, in: rows) }?.code == .forked, "5")
          try own.close()
          done.signal()
          _exit(0)
        }
        try store.close()
        turn.signal()
        done.wait()
        try waitFor(process)
        let again = try Store.open(at: path)
        demand(try again.get(4, in: again.keyspace("rows")) == [4], "6")
        try again.close()
      }
    }
  }

  @Test("D23: A child waits for no lock that a thread of its parent held.")
  func beside() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        let store = try Store.open(at: "\(directory)/store")
        let rows = try store.keyspace("rows")
        for number in 0..<100 as Range<Int64> {
          try store.put([UInt8](repeating: 7, count: 900), at: .integer(number), in: rows)
        }
        let snapshot = store.snapshot()
        let (held, goOn) = (try Pipe(), try Pipe())
        let compaction = Threads()
        compaction.start {
          let isFirst = Lock(true)
          try store.compact(.everything) { _ in
            // Hold the thread here during the forks: a thread at work in the runtime may leave the child one of its
            // locks, still held.
            if isFirst.withLock({ isFirst in
              defer { isFirst = false }
              return isFirst
            }) {
              held.signal()
              goOn.wait()
            }
            return true
          }
          held.signal()
        }
        held.wait()
        for fork in [forking_fork, forking_bare_fork] {
          try child(fork) { try expectNothingWorks(store, snapshot, rows) }
        }
        goOn.signal()
        try compaction.join()
        snapshot.close()
        try store.close()
        let again = try Store.open(at: "\(directory)/store")
        demand(try again.read { try $0.count(.all, in: again.keyspace("rows")) } == 100, "rows")
      }
    }
  }
}

private func expectNothingWorks(_ store: Store, _ snapshot: Snapshot, _ rows: Keyspace) throws {
  let calls: [(String, () throws -> Void)] = [
    ("keyspace", { _ = try store.keyspace("new") }), ("drop", { try store.drop(rows) }),
    ("setRetention", { try store.setRetention(.last(2), of: rows) }),
    ("write", { try store.write { try $0.put([1], at: 1, in: rows) } }), ("empty write", { try store.write { _ in } }),
    ("put", { try store.put([9], at: 1, in: rows) }), ("delete", { try store.delete(1, in: rows, .buffered) }),
    ("sync", { try store.sync() }), ("checkpoint", { try store.checkpoint() }), ("compact", { try store.compact() }),
    ("get", { _ = try store.get(1, in: rows) }), ("row", { _ = try store.row(1, in: rows) }),
    ("contains", { _ = try store.contains(1, in: rows) }), ("history", { _ = try store.history(of: 1, in: rows) }),
    ("withValue", { _ = try store.withValue(1, in: rows) { _ in } }),
    ("read", { _ = try store.read { try $0.get(1, in: rows) } }),
    ("snapshot", { _ = try store.snapshot().get(1, in: rows) }),
    ("snapshot's get", { _ = try snapshot.get(1, in: rows) }), ("its rows", { _ = try snapshot.rows(in: rows) }),
    ("its count", { _ = try snapshot.count(in: rows) }),
    ("its many", { _ = try snapshot.get(many: [1], in: rows) }),
  ]
  for (name, call) in calls {
    let error = failure(call)
    demand(error?.code == .forked, "\(name): \(error.map { "\($0)" } ?? "no error")")
  }
  demand(store.keyspaces.isEmpty && store.statistics.rows == 0, "10")
  store.pauseCompaction()
  store.resumeCompaction()
  snapshot.close()
  try store.close()
}

/// Runs `body` in a child, and waits for its end.
private func child(_ fork: () -> pid_t, _ body: () throws -> Void) throws {
  let process = fork()
  if process == 0 {
    do {
      try body()
    } catch {
      fatalError("\(error)")
    }
    _exit(0)
  }
  try waitFor(process)
}

private func waitFor(_ process: pid_t) throws {
  var status: Int32 = 0
  demand(unsafe waitpid(process, &status, 0) == process, "there is no child \(process)")
  demand(status == 0, "the child ended with \(status)")
}

private struct Pipe {
  private var ends: (read: Int32, write: Int32)

  init() throws {
    var ends: [Int32] = [0, 0]
    demand(unsafe pipe(&ends) == 0, "11")
    self.ends = (ends[0], ends[1])
  }

  func signal() {
    var byte: UInt8 = 1
    _ = unsafe write(ends.write, &byte, 1)
  }

  func wait() {
    var byte: UInt8 = 0
    _ = unsafe read(ends.read, &byte, 1)
  }
}
