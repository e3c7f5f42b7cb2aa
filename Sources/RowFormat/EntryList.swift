/// Entries in order, one after the other in one buffer.
package struct EntryList: Equatable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  package init() {}

  package init(_ entries: some Sequence<some Collection<UInt8>>) {
    for entry in entries { append(entry) }
  }

  /// Reads the entries of a pack.
  ///
  /// - Throws: Damage if the entries do not ascend, or are too large.
  init(pack: [UInt8]) throws(RowDamage) {
    var parts = try PackParts(pack)
    var ends: [Int] = []
    ends.reserveCapacity(parts.left)
    var damage: RowDamage?
    bytes = unsafe pack.withUnsafeBytes { pack in
      unsafe [UInt8](unsafeUninitializedCapacity: Swift.max(Pack.mostBytes, pack.count)) { buffer, count in
        guard let source = pack.baseAddress, let target = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
        do throws(RowDamage) {
          count = try unsafe Self.read(&parts, of: source, into: target, &ends)
        } catch {
          damage = error
        }
      }
    }
    self.ends = ends
    if let damage { throw damage }
  }

  /// Writes the entries of a pack one after the other, and returns how many bytes they take.
  private static func read(
    _ parts: inout PackParts, of pack: UnsafeRawPointer, into bytes: UnsafeMutableRawPointer, _ ends: inout [Int]
  ) throws(RowDamage) -> Int {
    var (former, end) = (0, 0)
    while let (shared, rest) = try parts.next(after: end - former) {
      if !ends.isEmpty {
        try parts.checkOrder(
          rest, after: former + shared < end ? unsafe bytes.load(fromByteOffset: former + shared, as: UInt8.self) : nil)
      }
      unsafe (bytes + end).copyMemory(from: bytes + former, byteCount: shared)
      unsafe (bytes + end + shared).copyMemory(from: pack + rest.lowerBound, byteCount: rest.count)
      former = end
      end += shared + rest.count
      ends.append(end)
    }
    return end
  }

  /// How many bytes the entries take together.
  package var byteCount: Int { bytes.count }

  package mutating func reserve(_ count: Int, bytes byteCount: Int) {
    ends.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  package mutating func append(_ entry: some Collection<UInt8>) {
    bytes.append(contentsOf: entry)
    ends.append(bytes.count)
  }

  /// As the generic method, which the compiler does not specialise for callers in other modules.
  package mutating func append(_ entry: [UInt8]) {
    bytes.append(contentsOf: entry)
    ends.append(bytes.count)
  }

  /// Appends an entry that is a part of some bytes.
  package mutating func append(_ others: [UInt8], _ range: Range<Int>) {
    bytes.append(contentsOf: others[range])
    ends.append(bytes.count)
  }

  package mutating func append(_ others: EntryList, _ places: Range<Int>) {
    guard !places.isEmpty else { return }
    let start = others.start(of: places.lowerBound)
    let difference = bytes.count - start
    bytes.append(contentsOf: others.bytes[start..<others.ends[places.upperBound - 1]])
    for place in places { ends.append(others.ends[place] + difference) }
  }

  /// The place of the first entry from `start` on that is not below `entry`, and whether it is that entry. O(log n)
  /// comparisons.
  package func place(of entry: [UInt8], from start: Int) -> (place: Int, isThere: Bool) {
    unsafe entry.withUnsafeBytes { unsafe place(of: $0, from: start) }
  }

  /// As ``place(of:from:)``, of an entry of another list.
  package func place(of other: Int, in others: EntryList, from start: Int) -> (place: Int, isThere: Bool) {
    unsafe others.withEntry(other) { unsafe place(of: $0, from: start) }
  }

  private func place(of entry: UnsafeRawBufferPointer, from start: Int) -> (place: Int, isThere: Bool) {
    unsafe bytes.withUnsafeBytes { bytes in
      var (low, high) = (start, count)
      var isThere = false
      while low < high {
        let middle = (low + high) / 2
        let own = unsafe UnsafeRawBufferPointer(rebasing: bytes[self.start(of: middle)..<ends[middle]])
        let order = unsafe Entry.order(own, entry)
        if order < 0 { low = middle + 1 } else { (high, isThere) = (middle, order == 0) }
      }
      return (low, isThere)
    }
  }

  /// Whether an entry comes before a byte string.
  package func isBefore(_ bound: [UInt8], _ place: Int) -> Bool {
    unsafe bound.withUnsafeBytes { bound in unsafe withEntry(place) { unsafe Entry.order($0, bound) < 0 } }
  }

  /// Whether an entry comes before one of another list.
  package func isBefore(_ other: Int, of others: EntryList, _ place: Int) -> Bool {
    unsafe others.withEntry(other) { other in unsafe withEntry(place) { unsafe Entry.order($0, other) < 0 } }
  }

  @inline(__always)
  private func withEntry<Result>(_ place: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe bytes.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[start(of: place)..<ends[place]])) }
  }

  /// The entries of two sorted lists in order.
  package func merged(with other: EntryList) -> EntryList {
    var merged = EntryList()
    var (place, otherPlace) = (0, 0)
    while place < count || otherPlace < other.count {
      if otherPlace == other.count || place < count && isBefore(otherPlace, of: other, place) {
        merged.append(self, place..<place + 1)
        place += 1
      } else {
        merged.append(other, otherPlace..<otherPlace + 1)
        otherPlace += 1
      }
    }
    return merged
  }

  /// Whether the list begins with the entries of another list.
  package func begins(with other: EntryList) -> Bool {
    ends.count >= other.ends.count && ends[..<other.ends.count] == other.ends[...]
      && bytes[..<other.bytes.count] == other.bytes[...]
  }

  /// The pack of some of the entries.
  package func pack(_ places: Range<Int>) -> [UInt8] {
    let total = places.isEmpty ? 0 : ends[places.upperBound - 1] - start(of: places.lowerBound)
    // No number takes more than 10 bytes.
    let most = 1 + 10 + 2 * 10 * places.count + total
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
        unsafe buffer[0] = Pack.format
        count = 1
        unsafe Self.write(places.count, to: buffer, &count)
        var former = 0..<0
        for place in places {
          let own = start(of: place)..<ends[place]
          let shared = unsafe Self.shared(bytes, former, own)
          unsafe Self.write(shared, to: buffer, &count)
          unsafe Self.write(own.count - shared, to: buffer, &count)
          for place in own.lowerBound + shared..<own.upperBound {
            unsafe buffer[count] = unsafe bytes[place]
            count += 1
          }
          former = own
        }
      }
    }
  }

  /// Writes a number as ``ByteOutput`` does.
  private static func write(_ number: Int, to buffer: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) {
    var rest = number
    while rest >= 0x80 {
      unsafe buffer[count] = UInt8(truncatingIfNeeded: rest) | 0x80
      count += 1
      rest >>= 7
    }
    unsafe buffer[count] = UInt8(rest)
    count += 1
  }

  /// The length of the prefix that two entries share.
  private static func shared(
    _ bytes: UnsafeBufferPointer<UInt8>, _ former: Range<Int>, _ latter: Range<Int>
  ) -> Int {
    let most = Swift.min(former.count, latter.count)
    let bytes = UnsafeRawBufferPointer(bytes)
    var shared = 0
    while shared + 8 <= most {
      let difference = unsafe UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: former.lowerBound + shared, as: UInt64.self)
          ^ bytes.loadUnaligned(fromByteOffset: latter.lowerBound + shared, as: UInt64.self))
      guard difference == 0 else { return shared + difference.trailingZeroBitCount / 8 }
      shared += 8
    }
    while shared < most, unsafe bytes[former.lowerBound + shared] == bytes[latter.lowerBound + shared] { shared += 1 }
    return shared
  }

  private func start(of place: Int) -> Int { place == 0 ? 0 : ends[place - 1] }

  /// How many bytes an entry has.
  package func length(of place: Int) -> Int { ends[place] - start(of: place) }
}

extension EntryList: RandomAccessCollection {
  // The compiler does not specialise the defaults for callers in other modules.
  package var count: Int { ends.count }
  package var isEmpty: Bool { ends.isEmpty }
  package var startIndex: Int { 0 }
  package var endIndex: Int { ends.count }
  package subscript(place: Int) -> ArraySlice<UInt8> { bytes[start(of: place)..<ends[place]] }
}
