import ArgumentParser
import Cairn
import Foundation

/// How much space dictionaries save with real rows, and what they cost.
struct Dictionaries: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stores the records of a text with and without dictionaries.",
    discussion: """
      Records stand between empty lines, as in Debian's package catalogues:
        cat /var/lib/apt/lists/*_Packages >packages        (or lz4cat … *_Packages.lz4)
        Benchmarks/run dictionaries packages
      Each becomes a row, buffered, a hundred to a commit; then everything is compacted.
      """)

  @Argument(help: "Texts of records.", completion: .file())
  var texts: [String]

  @Option(help: "How often everything is measured.")
  var rounds = 3

  @Option(help: "Where the stores go while it runs. (default: the temporary directory)")
  var directory: String?

  private struct Sample {
    var imported = 0.0
    var compacted = 0.0
    var put = 0.0
    var get = 0.0
    var getCompacted = 0.0
    var compaction = 0.0
  }

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("--rounds is at least 1, not \(rounds).") }
  }

  func run() throws {
    let records = try texts.flatMap { try Self.records(URL(fileURLWithPath: $0)) }
    guard !records.isEmpty else { throw ValidationError("There are no records.") }
    let place = try Workplace(in: directory)
    defer { place.remove() }
    let progress = Progress()
    var samples: [[Sample]] = [[], []]
    for round in 0..<rounds {
      for (number, uses) in [false, true].enumerated() {
        progress.show("round \(round + 1) of \(rounds), \(uses ? "with" : "without") dictionaries")
        samples[number].append(try measure(records, uses, place))
      }
    }
    progress.clear()
    let bytes = records.reduce(0) { $0 + $1.count }
    print("\(records.count) records, \(bytes) bytes; medians of \(rounds) rounds\n")
    print(aligned([Self.heading] + zip(["without", "with dictionaries"], samples).map(Self.line)))
  }

  private static let heading = [
    "", "log over input", "compacted", "put µs", "get ns", "get ns, compacted", "compaction s",
  ]

  private static func line(_ name: String, _ samples: [Sample]) -> [String] {
    func middle(_ figure: KeyPath<Sample, Double>, _ digits: Int) -> String {
      decimal(median(samples.map { $0[keyPath: figure] }), digits)
    }
    return [
      name, middle(\.imported, 3), middle(\.compacted, 3), middle(\.put, 2), middle(\.get, 0),
      middle(\.getCompacted, 0), middle(\.compaction, 2),
    ]
  }

  private static func records(_ text: URL) throws -> [[UInt8]] {
    let bytes = [UInt8](try Data(contentsOf: text))
    var records: [[UInt8]] = []
    var start = 0
    for index in bytes.indices where bytes[index] == 10 && (index + 1 == bytes.count || bytes[index + 1] == 10) {
      if index > start { records.append(Array(bytes[start...index])) }
      start = index + 2
    }
    return records
  }

  private func measure(_ records: [[UInt8]], _ uses: Bool, _ place: Workplace) throws -> Sample {
    var options = StoreOptions()
    options.trainsDictionaries = uses
    let store = try Store.open(at: place.store("dictionaries"), options: options)
    defer {
      try? store.close()
      place.remove("dictionaries")
    }
    let rows = try store.keyspace("records")
    let input = Double(records.reduce(0) { $0 + $1.count })
    let clock = ContinuousClock()
    var sample = Sample()
    let put = try clock.measure {
      for start in stride(from: 0, to: records.count, by: 100) {
        try store.write(durability: .buffered) { batch in
          for number in start..<min(start + 100, records.count) {
            try rows.put(records[number], at: number, in: &batch)
          }
        }
      }
    }
    sample.put = put / .microseconds(1) / Double(records.count)
    sample.imported = Double(store.statistics.logBytes) / input
    sample.get = try get(records, store, rows)
    sample.compaction = try clock.measure { _ = try store.compact(.everything) } / .seconds(1)
    sample.compacted = Double(store.statistics.logBytes) / input
    sample.getCompacted = try get(records, store, rows)
    for number in records.indices {
      guard try rows.get(number) == records[number] else {
        throw ValidationError("record \(number) has changed")
      }
    }
    return sample
  }

  /// Nanoseconds per lookup, in random order.
  private func get(_ records: [[UInt8]], _ store: Store, _ rows: Keyspace) throws -> Double {
    var random = SystemRandomNumberGenerator()
    let wanted = (0..<200_000).map { _ in Key.integer(Int64.random(in: 0..<Int64(records.count), using: &random))
    }
    var bytes = 0
    let elapsed = try ContinuousClock().measure {
      for key in wanted { try rows.withValue(key) { bytes += $0.byteCount } }
    }
    guard bytes > 0 else { throw ValidationError("nothing was read") }
    return elapsed / .nanoseconds(1) / Double(wanted.count)
  }
}
