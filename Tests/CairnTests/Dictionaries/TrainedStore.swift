import CairnSimulation

@testable import Cairn

/// A store that has made a dictionary.
enum TrainedStore {
  static let count = 2600

  /// Values that hardly repeat anything inside themselves but have much in common with each other.
  static func value(_ number: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(number))
    let words = (0..<24).map { _ in "field-\((random.next() % 400 + 1) &* 0x9E37_79B9_7F4A_7C15):\(random.next() % 100)"
    }
    return [UInt8]("{\(words.joined(separator: ","))}")
  }

  static func fill(_ store: Store, _ range: Range<Int>, _ value: @escaping (Int) -> [UInt8] = value) throws {
    let rows = try store.keyspace("rows")
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 100) {
      try store.write(durability: .buffered) { batch in
        for number in start..<min(start + 100, range.upperBound) {
          try batch.put(value(number), at: .integer(Int64(number)), in: rows)
        }
      }
    }
  }

  static var options: StoreOptions {
    var options = Machine.options
    options.writesCheckpoints = false
    return options
  }

  /// A machine whose store has a dictionary, and rows from before and after the dictionary.
  static let trained: Result<Machine, any Error> = Result {
    let machine = Machine()
    let store = try machine.open(options)
    try fill(store, 0..<count)
    machine.runBackground()
    try fill(store, count..<count + 200)
    try store.sync()
    try store.close()
    return machine
  }

  /// The key of the first value that is compressed with the dictionary.
  static let first = Int64(count)

  static func machine() throws -> Machine { try trained.get().kill() }
}
