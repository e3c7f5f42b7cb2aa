import CoreData

/// Sorts many rows in little memory: by the bytes that an index would have for their sort keys, which are kept one
/// after another. A row takes these bytes and 10 more.
struct PackedOrder {
  private static let chunkBits: UInt32 = 20

  private let properties: [(number: UInt32, isDescending: Bool)]
  /// Keys, each after two bytes with its length; none lies in two chunks.
  private var chunks: [[UInt8]] = []
  /// The chunk and the place in the chunk at which the key of each row begins.
  private var starts: [UInt32] = []

  /// Nil if a descriptor orders values differently from an index.
  init?(_ descriptors: [NSSortDescriptor], _ planner: IndexPlanner) {
    var properties: [(UInt32, Bool)] = []
    for descriptor in descriptors {
      guard let property = planner.property(orderedBy: descriptor) else { return nil }
      properties.append((property, !descriptor.ascending))
    }
    self.properties = properties
  }

  /// Adds a row, given its bytes. False if a value is so long that an index would cut it off; the order is of no use
  /// then.
  mutating func append(_ row: [UInt8]) throws -> Bool {
    var key: [UInt8] = []
    for (number, isDescending) in properties {
      let value = try IndexKey.key(of: [number], in: row, normalized: UniqueKey.normalized)
      var input = ByteInput(value)
      guard try input.indexKey(1).isWhole else { return false }
      key += isDescending ? value.map { ~$0 } : value
    }
    return append(key: key)
  }

  private mutating func append(key: [UInt8]) -> Bool {
    let size = 1 << Int(Self.chunkBits)
    guard key.count <= UInt16.max else { return false }
    if chunks.last.map({ $0.count + 2 + key.count > size }) ?? true {
      guard chunks.count < 1 << (32 - Self.chunkBits) else { return false }
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(size)
    }
    let chunk = chunks.count - 1
    starts.append(UInt32(chunk) << Self.chunkBits | UInt32(chunks[chunk].count))
    chunks[chunk] += [UInt8(key.count & 0xFF), UInt8(key.count >> 8)]
    chunks[chunk] += key
    return true
  }

  /// The numbers of the rows in their order; rows with equal keys in the order in which they were added.
  ///
  /// - Complexity: O(n log n).
  var sorted: [UInt32] {
    (0..<UInt32(starts.count)).sorted { left, right in
      let (first, second) = (key(of: left), key(of: right))
      return first.lexicographicallyPrecedes(second) || left < right && first.elementsEqual(second)
    }
  }

  private func key(of row: UInt32) -> ArraySlice<UInt8> {
    let start = starts[Int(row)]
    let (chunk, place) = (Int(start >> Self.chunkBits), Int(start & (1 << Self.chunkBits - 1)))
    let bytes = chunks[chunk]
    let count = Int(bytes[place]) | Int(bytes[place + 1]) << 8
    return bytes[place + 2..<place + 2 + count]
  }
}
