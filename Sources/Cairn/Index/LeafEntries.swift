/// The entries of one or two leaves on their way from one node to another, in order, on the stack.
@safe struct LeafEntries {
  private let base: UnsafeMutablePointer<Leaf.Entry>
  var count = 0

  private static let capacity = 2 * Leaf.maximumCapacity + 1

  static func with<R, E>(_ body: (inout LeafEntries) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeTemporaryAllocation(of: Leaf.Entry.self, capacity: capacity) { (memory) throws(E) in
      var entries = unsafe LeafEntries(base: memory.baseAddress.unsafelyUnwrapped)
      return try body(&entries)
    }
  }

  private init(base: UnsafeMutablePointer<Leaf.Entry>) { unsafe self.base = unsafe base }

  @inline(__always)
  subscript(_ index: Int) -> Leaf.Entry {
    get { unsafe base[index] }
    nonmutating set { unsafe base[index] = newValue }
  }

  subscript(_ range: Range<Int>) -> UnsafeMutableBufferPointer<Leaf.Entry> {
    unsafe UnsafeMutableBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// Replaces all entries with the first `number` of a leaf.
  mutating func copy(_ leaf: Leaf, _ number: Int) {
    let (heads, hashes) = unsafe leaf.columns
    for index in 0..<number { unsafe base[index] = Leaf.Entry(head: heads[index], hash: hashes[index]) }
    count = number
  }

  /// The first entry whose head is not below `head`.
  @inline(__always)
  func firstIndex(atOrAbove head: UInt64) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low &+ high) >> 1
      if unsafe base[middle].head < head { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ entry: Leaf.Entry, at index: Int) {
    unsafe (base + index + 1).update(from: base + index, count: count - index)
    unsafe base[index] = entry
    count += 1
  }

  mutating func removeFirst(_ number: Int) {
    unsafe base.update(from: base + number, count: count - number)
    count -= number
  }

  /// False if there is no such entry.
  mutating func remove(_ hash: RowHash) -> Bool {
    guard let index = (0..<count).first(where: { unsafe base[$0].hash == hash }) else { return false }
    unsafe (base + index).update(from: base + index + 1, count: count - index - 1)
    count -= 1
    return true
  }

  mutating func removeAll(where isGone: (RowHash) -> Bool) {
    var kept = 0
    for index in 0..<count where unsafe !isGone(base[index].hash) {
      unsafe base[kept] = base[index]
      kept += 1
    }
    count = kept
  }

  mutating func append(_ others: LeafEntries) {
    unsafe (base + count).update(from: others.base, count: others.count)
    count += others.count
  }

  func reverse() {
    var all = unsafe self[0..<count]
    unsafe all.reverse()
  }

  /// Changes the heads from those after `prefix` to those after its first `length` bytes.
  func shorten(_ prefix: UnsafeRawBufferPointer, to length: Int) {
    let dropped = prefix.count - length
    guard dropped > 0 else { return }
    let front = unsafe prefix.head(length)
    for index in 0..<count {
      unsafe base[index].head = unsafe dropped >= 8 ? front : front | base[index].head >> (8 * UInt64(dropped))
    }
  }
}
