import Cairn
import CairnSimulation
import Testing

@Suite struct LifeTests {
  #if os(Linux)
    @Test("Ten thousand cursors, meters, listeners and updates leave no memory behind.") func memory() async {
      await #expect(processExitsWith: .success) {
        let store = try Machine().open()
        let rows = try store.keyspace("rows")
        for number in 0..<100 { try rows.put("value", at: number, durability: .buffered) }
        func round(_ number: Int) throws {
          var cursor = rows.cursor()
          _ = try cursor.next()
          let (meter, events) = (store.measure(), store.events)
          _ = try rows.get(number % 100)
          guard meter.latencies.gets.count > 0 else { fatalError("nothing was measured") }
          withExtendedLifetime(events) {}
        }
        for number in 0..<500 { try round(number) }
        let before = residentBytes()
        for number in 0..<10_000 { try round(number) }
        guard residentBytes() - before < 4 << 20 else {
          fatalError("\(residentBytes() - before) bytes are left of 10,000 rounds")
        }
        guard store.statistics.snapshots == 0 else { fatalError("a snapshot is left") }
      }
    }

    @Test("Ten thousand commits, cursors over changes and feeds that wait in vain leave no memory behind.")
    func changes() async {
      await #expect(processExitsWith: .success) {
        let store = try Machine().openThreaded()
        let rows = try store.keyspace("rows")
        for number in 0..<100 { try rows.put("value", at: number, durability: .buffered) }
        func round(_ number: Int) async throws {
          let position = try store.read { try $0.position() }
          if number.isMultiple(of: 100) { try store.addChangeReader("reader", since: position) }
          try await store.submit { batch in try rows.put("value", at: number % 100, in: &batch) }
          var cursor = try store.changes(since: position)
          guard try cursor.next()?.changes.count == 1 else { fatalError("the change is missing") }
          try store.acknowledge(cursor.position, by: "reader")
          let waiting = Task { [feed = try store.changeFeed(since: cursor.position)] in
            for try await _ in feed { fatalError("there is no change") }
          }
          await Task.yield()
          waiting.cancel()
          try await waiting.value
        }
        for number in 0..<500 { try await round(number) }
        try store.compact()
        let before = residentBytes()
        for number in 0..<10_000 { try await round(number) }
        try store.compact()
        guard residentBytes() - before < 4 << 20 else {
          fatalError("\(residentBytes() - before) bytes are left of 10,000 rounds")
        }
        guard store.statistics.snapshots == 0 else { fatalError("a snapshot is left") }
      }
    }
  #endif

  @Test("After a close, reads and cursors go on, writes throw, and there are no events.") func closed() async throws {
    let store = try Machine().open()
    let rows = try store.keyspace("rows")
    for number in 0..<100 { try rows.put("value", at: number, durability: .buffered) }
    var cursor = rows.cursor()
    _ = try cursor.next()
    try store.close()
    var count = 1
    while try cursor.next() != nil { count += 1 }
    #expect(try count == 100 && rows.get(5, as: String.self) == "value" && rows.last()?.key == 99)
    #expect(failure { try rows.put("late", at: 1) }?.code == .closed)
    #expect(failure { try rows.update(1) { $0 = nil } }?.code == .closed)
    #expect(failure { try rows.deleteRows(.all) }?.code == .closed)
    for await event in store.events { Issue.record("\(event)") }
  }
}
