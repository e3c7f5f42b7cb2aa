import Cairn
import CairnBridges
import Foundation
import Logging
import MetricsTestKit

/// Prints what is logged.
struct Printer: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    print("\(event.level): \(event.message.description.prefix(18)), \(event.metadata?["store"] ?? "")")
  }
}

let store = try Store.open(at: "bridged.cairn")
let rows = try store.keyspace("rows")
let meter = store.measure()
for number in 0..<10 { try rows.put("value", at: number) }
_ = try rows.get(1)

let metrics = TestMetrics()
StoreMetrics(store, dimensions: [("store", "test")], factory: metrics).report(meter.latencies)
print("rows:", try metrics.expectGauge("cairn.rows", [("store", "test")]).lastValue ?? -1)
let median = try metrics.expectGauge("cairn.commit.seconds", [("store", "test"), ("quantile", "0.5")])
print("commits take time:", median.lastValue.map { $0 > 0 } ?? false)
print("compaction:", (try? metrics.expectGauge("cairn.compaction.seconds", [("store", "test")])) != nil)

let logging = store.logEvents(to: Logger(label: "store") { _ in Printer() })
// No file may get longer any more, which the engine takes for a failing disk.
signal(SIGXFSZ, SIG_IGN)
var limit = rlimit(rlim_cur: 1, rlim_max: 1)
setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit)
var refusal: StoreError?
do {
  try rows.put((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }, at: 1)
} catch {
  refusal = error
}
try? store.close()
await logging.value
print("refused:", refusal?.code.description ?? "no")
