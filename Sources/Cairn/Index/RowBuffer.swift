import CCairnPlatform

/// Rows of a replay, in contiguous memory for which huge pages are requested.
@safe final class RowBuffer {
  /// A record that is to be entered into the indexes, or copied.
  struct Row {
    var hash: RowHash
    /// The log address, in bits 0 to 38; bit 39 says whether it is a put; the number of its keyspace is in
    /// the bits from 40 on.
    var word: UInt64
    /// Eight bytes of its key, after those that all keys of the keyspace are known to begin with.
    var head: UInt64

    static let addressMask: UInt64 = (1 << 39) - 1
    static let putBit: UInt64 = 1 << 39

    @inline(__always)
    init(hash: RowHash, address: LogAddress, isPut: Bool = false, keyspace: Int, head: UInt64) {
      self.hash = hash
      word = address.rawValue | (isPut ? Self.putBit : 0) | UInt64(keyspace) << 40
      self.head = head
    }

    var address: LogAddress { LogAddress(word & Self.addressMask) }
    var isPut: Bool { word & Self.putBit != 0 }
    var keyspace: Int { Int(truncatingIfNeeded: word >> 40) }
  }

  private let memory: PrivateMapping
  private let base: UnsafeMutablePointer<Row>
  var count = 0

  private static let smallPart = 2 << 20

  /// - Throws: `noMemory`.
  init(capacity: Int) throws(StoreError) {
    let bytes = capacity * MemoryLayout<Row>.stride
    do throws(FileError.Cause) {
      memory = try PrivateMapping(nil, bytes)
    } catch {
      throw outOfMemory(bytes)
    }
    // The first part stays in small pages, which is enough for few rows.
    if bytes > Self.smallPart { unsafe cairn_advise_huge(memory.base + Self.smallPart, bytes - Self.smallPart) }
    unsafe base = unsafe memory.base.bindMemory(to: Row.self, capacity: capacity)
  }

  @inline(__always)
  subscript(_ index: Int) -> Row {
    get { unsafe base[index] }
    set { unsafe base[index] = newValue }
  }

  @inline(__always)
  func append(_ row: Row) {
    unsafe base[count] = row
    count &+= 1
  }

  /// Sorts all by keyspace; rows of one keyspace stay in their order.
  func sortByKeyspace(with spare: RowBuffer) {
    var counts: [Int] = []
    for index in 0..<count {
      let keyspace = unsafe base[index].keyspace
      while counts.count <= keyspace { counts.append(0) }
      counts[keyspace] += 1
    }
    guard counts.count > 1 else { return }
    var sum = 0
    for keyspace in counts.indices { (counts[keyspace], sum) = (sum, sum + counts[keyspace]) }
    for index in 0..<count {
      let row = unsafe base[index]
      unsafe spare.base[counts[row.keyspace]] = row
      counts[row.keyspace] += 1
    }
    unsafe base.update(from: spare.base, count: count)
  }

  /// Sorts a range by heads: a radix sort, byte by byte from the last; bytes that are equal in all heads are skipped.
  func sortByHead(_ range: Range<Int>, with spare: RowBuffer) {
    guard range.count > 64 else {
      var few = unsafe UnsafeMutableBufferPointer(start: base + range.lowerBound, count: range.count)
      unsafe few.sort { $0.head < $1.head }
      return
    }
    var counts = [Int](repeating: 0, count: 8 * 256)
    for index in range {
      let head = unsafe base[index].head
      for byte in 0..<8 { counts[byte &* 256 &+ Int(truncatingIfNeeded: head >> UInt64(8 &* byte)) & 0xFF] += 1 }
    }
    var (source, target) = unsafe (base, spare.base)
    for byte in 0..<8 {
      let first = byte * 256
      guard !counts[first..<first + 256].contains(range.count) else { continue }
      var sum = range.lowerBound
      for digit in first..<first + 256 { (counts[digit], sum) = (sum, sum + counts[digit]) }
      for index in range {
        let row = unsafe source[index]
        let digit = first &+ Int(truncatingIfNeeded: row.head >> UInt64(8 &* byte)) & 0xFF
        unsafe target[counts[digit]] = row
        counts[digit] &+= 1
      }
      unsafe swap(&source, &target)
    }
    if unsafe source != base {
      unsafe (base + range.lowerBound).update(from: source + range.lowerBound, count: range.count)
    }
  }
}
