import Cairn

/// Every program of a few operations.
package enum ShortPrograms {
  /// The operations that programs consist of. Each changes the disk in its own way.
  package static let operations: [Operation] = [
    .write([Change(0, 1, .put(length: 20, fill: 3)), Change(2, 1, .put(length: 5, fill: 5))], .durable),
    // Values that are alike enough for a dictionary.
    .write((0..<6).map { Change(0, $0, .put(length: 420 + $0, fill: 7)) }, .buffered),
    .write([Change(0, 1, .delete), Change(1, 2, .put(length: 0, fill: 1))], .durable),
    // Two such writes fill a segment.
    .write([Change(1, 3, .put(length: 40_000, fill: 9))], .buffered),
    // Larger than a segment.
    .write([Change(0, 4, .put(length: 90_000, fill: 11)), Change(2, 5, .put(length: 300, fill: 2))], .durable),
    .background(9), .checkpoint, .compact(.everything), .drop(0), .sync, .reopen, .kill,
    .retain(0, 3), .retain(0, 1),
  ]

  /// The number of programs of a length.
  package static func count(length: Int) -> Int { (0..<length).reduce(2) { count, _ in count * operations.count } }

  /// The programs of a length, numbered from 0. Every other one begins with a keyspace that retains older versions.
  package static func program(length: Int, number: Int) -> Program {
    var rest = number / 2
    let chosen = (0..<length).map { _ in
      let (quotient, index) = rest.quotientAndRemainder(dividingBy: operations.count)
      rest = quotient
      return operations[index]
    }
    var options = Program.Options()
    options.keyCount = 6
    options.isTight = true
    let first = number.isMultiple(of: 2) ? [] : [Operation.retain(0, 2)]
    return Program(seed: UInt64(length * 1_000_000 + number), options: options, operations: first + chosen)
  }
}
