/// Entries in order, one after the other in one buffer.
package struct EntryList: Equatable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  package init() {}

  package init(_ entries: some Sequence<some Collection<UInt8>>) {
    for entry in entries { append(entry) }
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

  package mutating func append(_ others: EntryList, _ places: Range<Int>) {
    guard !places.isEmpty else { return }
    let start = others.start(of: places.lowerBound)
    let difference = bytes.count - start
    bytes.append(contentsOf: others.bytes[start..<others.ends[places.upperBound - 1]])
    for place in places { ends.append(others.ends[place] + difference) }
  }

  /// The place of the first entry from `start` on that is not below `entry`. O(log n) comparisons.
  package func place(of entry: [UInt8], from start: Int) -> Int {
    var (low, high) = (start, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].lexicographicallyPrecedes(entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Whether the list begins with the entries of another list.
  package func begins(with other: EntryList) -> Bool {
    ends.starts(with: other.ends) && bytes.starts(with: other.bytes)
  }

  /// The length of the prefix that an entry shares with the entry before it.
  func shared(at place: Int) -> Int {
    guard place > 0 else { return 0 }
    let (former, latter) = (start(of: place - 1), start(of: place))
    let most = Swift.min(latter - former, ends[place] - latter)
    var shared = 0
    while shared < most, bytes[former + shared] == bytes[latter + shared] { shared += 1 }
    return shared
  }

  private func start(of place: Int) -> Int { place == 0 ? 0 : ends[place - 1] }
}

extension EntryList: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { ends.count }
  package subscript(place: Int) -> ArraySlice<UInt8> { bytes[start(of: place)..<ends[place]] }
}
