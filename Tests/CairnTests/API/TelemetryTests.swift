import Cairn
import CairnSimulation
import Testing

@Suite struct TelemetryTests {
  @Test("A histogram knows each time to an eighth.") func histogram() {
    for time in [0, 1, 7, 8, 9, 100, 12_345, 1_000_000_007, Int.max / 2] {
      var counts = [Int](repeating: 0, count: LatencyHistogram.bucketCount)
      counts[LatencyHistogram.bucket(of: time)] = 3
      let histogram = LatencyHistogram(counts, total: 0)
      let found = histogram.quantile(0.5).nanoseconds
      #expect(found >= time && found <= time + time / 8, "\(time) became \(found)")
      #expect(histogram.count == 3 && histogram.quantile(0) == histogram.quantile(1))
    }
    #expect((0..<100_000).allSatisfy { LatencyHistogram.bucket(of: $0) <= LatencyHistogram.bucket(of: $0 + 1) })
    let none = LatencyHistogram([Int](repeating: 0, count: LatencyHistogram.bucketCount), total: 0)
    #expect(none.quantile(0.5) == .zero && none.count == 0)
    var two = [Int](repeating: 0, count: LatencyHistogram.bucketCount)
    (two[5], two[7]) = (1, 1)
    let both = LatencyHistogram(two, total: 12)
    #expect(both.quantile(0.5) == .nanoseconds(5) && both.quantile(0.51) == .nanoseconds(7))
  }

  @Test("A meter counts what is done while it exists, and each meter for itself.") func meters() throws {
    let store = try Machine().open()
    let rows = try store.keyspace("rows")
    try rows.put("before", at: 1)
    let first = store.measure()
    for number in 0..<10 { try rows.put("value", at: number) }
    try store.write(durability: .buffered) { try rows.put("value", at: 1, in: &$0) }
    let second = store.measure()
    for number in 0..<5 {
      _ = try rows.get(number)
      _ = try rows.withValue(number) { $0.byteCount }
    }
    #expect(first.latencies.commits.count == 11 && first.latencies.syncs.count == 10)
    #expect(first.latencies.gets.count == 10 && second.latencies.gets.count == 10)
    #expect(second.latencies.commits.count == 0 && second.latencies.syncs.count == 0)
    #expect(first.latencies.commits.total >= first.latencies.commits.quantile(0.01))
    for number in 0..<10 { try rows.put("other", at: number) }
    try store.compact(.everything)
    #expect(second.latencies.compactionPieces.count > 0)
  }

  @Test("Listeners are told that there is no space and that writing has ended, and end with the store.")
  func events() async throws {
    let machine = Machine()
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try rows.put("value", at: 1)
    let (first, second) = (store.events, store.events)
    machine.files.capacity = 0
    var random = SplitMix64(seed: 1)
    let large = (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &random) }
    #expect(failure { try rows.put(large, at: 2) }?.code == .noSpace)
    machine.files.capacity = nil
    machine.files.failNext(.sync, with: .system(5))
    #expect(failure { try rows.put("value", at: 3) } != nil)
    try? store.close()
    for stream in [first, second] {
      var events: [StoreEvent] = []
      for await event in stream { events.append(event) }
      #expect(events.first == .spaceLow)
      guard case .poisoned(let message) = events.last else {
        Issue.record("the last event is \(events)")
        continue
      }
      #expect(message.contains("reopened"))
    }
    var late = store.events.makeAsyncIterator()
    #expect(await late.next() == nil)
  }
}
