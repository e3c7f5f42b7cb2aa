import CCairnPlatform
import Synchronization

/// Enters what is read from the log into the indexes.
///
/// Records are gathered first, then sorted by where they go in the hash indexes, so that one part of them after the
/// other is at hand, and rows that are new to an ordered keyspace are sorted by key and added a leaf at a time. (As in
/// Manegold, Boncz and Kersten, "Optimizing main-memory join on modern hardware", 2002: partition until the working set
/// fits the cache.) Before a store is shared.
struct Replay: ~Copyable {
  /// A record, on its way.
  struct Row {
    var hash: UInt64
    /// The log address, and above it whether it is a put (bit 39) and the place of its keyspace in the list (40 …).
    var word: UInt64
    /// Eight bytes of its key behind what the keyspace's keys are known to begin with.
    var head: UInt64

    static let addressMask: UInt64 = (1 << 39) - 1
    static let putBit: UInt64 = 1 << 39

    var address: UInt64 { word & Self.addressMask }
    var isPut: Bool { word & Self.putBit != 0 }
    var keyspace: Int { Int(truncatingIfNeeded: word >> 40) }
  }

  private struct Part {
    let keyspace: KeyspaceIndex
    /// What all its keys seen so far begin with.
    var shared: [UInt8]?
    /// Where the heads of the rows at hand begin in their keys.
    var headStart = 0
    var count = 0

    @inline(__always)
    mutating func note(_ key: UnsafeRawBufferPointer) {
      count &+= 1
      guard let known = shared else {
        shared = unsafe Array(key)
        return
      }
      let common = unsafe known.withUnsafeBytes { known in
        unsafe key.count >= known.count && key.slice(0, known.count).equals(known)
          ? known.count : known.sharedPrefix(key)
      }
      if common < known.count { shared = Array(known.prefix(common)) }
    }
  }

  /// Gathered at most before they are entered; 80 bytes each.
  private static let capacity = 2 << 20
  /// How many rows ahead a record is asked for.
  private static let lookahead = 10
  /// Rows of a part whose pages fit into the cache together.
  private static let rowsAtOnce = 40_000

  private let index: Index
  private let table: SegmentTable
  private var parts: [Part] = []
  private var partsByID: [UInt32: Int] = [:]
  private var rows: RowBuffer
  private var sorted: RowBuffer
  private var spare: RowBuffer
  /// For each row of `sorted` the log address of an older record, and its length in units above that once it is known to
  /// be the row's.
  private var older: [UInt64] = []
  private var segments: [Segment?] = []
  /// Bits, four or more for each row of a partition.
  private var seen = [UInt64](repeating: 0, count: 1 << 12)

  init(index: Index) {
    self.index = index
    table = index.table
    rows = RowBuffer(capacity: Self.capacity)
    sorted = RowBuffer(capacity: Self.capacity)
    spare = RowBuffer(capacity: Self.capacity)
  }

  /// A segment whose records may come, or be superseded.
  mutating func enter(_ segment: Segment) {
    while segments.count < table.nextSlot { segments.append(segments.count < segment.slot ? nil : segment) }
  }

  mutating func enter(_ keyspace: KeyspaceIndex) {
    guard partsByID[keyspace.id] == nil else { return }
    partsByID[keyspace.id] = parts.count
    parts.append(Part(keyspace: keyspace))
  }

  /// A put or a tombstone; false if its keyspace has not been entered. Records come in the order of their revisions.
  mutating func add(_ record: RecordView, at address: UInt64, in segment: Segment) throws(StoreError) -> Bool {
    guard let number = partsByID[record.header.keyspace] else { return false }
    if rows.count == Self.capacity { try finish() }
    let key = unsafe record.key
    unsafe parts[number].note(key)
    let isPut = record.header.isPut
    if isPut {
      segment.liveBytes.add(record.header.paddedLength, ordering: .relaxed)
      parts[number].keyspace.live.add(record.header.paddedLength, slot: segment.slot)
    }
    rows.append(
      Row(
        hash: unsafe parts[number].keyspace.hash(key),
        word: address | (isPut ? Row.putBit : 0) | UInt64(number) << 40,
        head: unsafe key.head(parts[number].headStart)))
    return true
  }

  /// Takes a keyspace away with all its rows.
  mutating func drop(_ id: UInt32) throws(StoreError) {
    try finish()
    guard let number = partsByID.removeValue(forKey: id) else { return }
    let keyspace = parts[number].keyspace
    for (slot, bytes) in keyspace.live.bySlot { segments[slot]?.liveBytes.subtract(bytes, ordering: .relaxed) }
    index.remove(keyspace)
    keyspace.clear()
  }

  /// Enters what has been gathered.
  mutating func finish() throws(StoreError) {
    guard rows.count > 0 else { return }
    var partitions = partition()
    lookUp(&partitions)
    try verifyOlder()
    var start = 0
    var fresh: [(part: Int, rows: Range<Int>)] = []
    for partition in partitions where partition.end > start {
      let (number, end) = (partition.keyspace, partition.end)
      if fresh.last?.part != number {
        let behind = fresh.last?.rows.upperBound ?? 0
        fresh.append((number, behind..<behind))
      }
      let known = fresh[fresh.count - 1].rows
      parts[number].keyspace.locator.index.reserve(
        partition.newRows, part: partition.number, bits: partition.bits)
      let all = try enter(start..<end, of: parts[number].keyspace, freshFrom: known.upperBound)
      fresh[fresh.count - 1].rows = known.lowerBound..<all
      start = end
    }
    for (number, rows) in fresh { try addInOrder(rows, to: parts[number]) }
    rows.count = 0
    for number in parts.indices {
      parts[number].count = 0
      parts[number].headStart = parts[number].shared?.count ?? 0
    }
  }

  /// Rows of one keyspace that go into the same part of its hash index: one of 2^`bits`.
  private struct Partition {
    let keyspace: Int
    let bits: UInt32
    let number: Int
    /// In `sorted`.
    var end = 0
    /// About how many of its rows the index has not had.
    var newRows = 0
  }

  /// Sorts by keyspace and, inside one, by part of the hash index; of one row what came first stays first.
  private mutating func partition() -> [Partition] {
    var partitions: [Partition] = []
    var firsts: [Int] = []
    var shifts: [UInt64] = []
    for (keyspace, part) in parts.enumerated() {
      let rows = part.count + min(part.count * 64, part.keyspace.rowCount.load(ordering: .relaxed))
      var bits: UInt32 = 0
      while part.count > 0, bits < 10, rows >> Int(bits) > Self.rowsAtOnce { bits += 1 }
      firsts.append(partitions.count)
      shifts.append(32 - UInt64(bits))
      for number in 0..<1 << Int(bits) { partitions.append(Partition(keyspace: keyspace, bits: bits, number: number)) }
    }
    func place(_ row: Row) -> Int {
      firsts[row.keyspace] &+ Int(truncatingIfNeeded: UInt64(HashIndex.position(row.hash)) >> shifts[row.keyspace])
    }
    var ends = [Int](repeating: 0, count: partitions.count)
    for index in 0..<rows.count { ends[place(rows[index])] += 1 }
    var sum = 0
    for place in ends.indices { (ends[place], sum) = (sum, sum + ends[place]) }
    sorted.count = rows.count
    for index in 0..<rows.count {
      let row = rows[index]
      let place = place(row)
      sorted[ends[place]] = row
      ends[place] += 1
    }
    for index in ends.indices { partitions[index].end = ends[index] }
    return partitions
  }

  // MARK: By hash

  /// Notes for each row where an older record of it most likely lies, and counts the rows that are new: by linear
  /// counting (Whang, Vander-Zanden and Taylor, 1990), without the estimate, since the bits are many.
  private mutating func lookUp(_ partitions: inout [Partition]) {
    older.removeAll(keepingCapacity: true)
    var start = 0
    for place in partitions.indices where partitions[place].end > start {
      let index = parts[partitions[place].keyspace].keyspace.locator.index
      let end = partitions[place].end
      for word in seen.indices { seen[word] = 0 }
      for position in start..<end {
        if position + 2 * Self.lookahead < end { index.prefetch(sorted[position + 2 * Self.lookahead].hash) }
        let row = sorted[position]
        var likely: UInt64 = 0
        _ = unsafe index.find(row.hash) { (address) in
          likely = address
          return true
        }
        older.append(likely)
        let bit = Int(truncatingIfNeeded: row.hash & UInt64(seen.count * 64 - 1))
        if likely == 0, row.isPut, seen[bit >> 6] & 1 << UInt64(bit & 63) == 0 {
          seen[bit >> 6] |= 1 << UInt64(bit & 63)
          partitions[place].newRows += 1
        }
      }
      start = end
    }
  }

  /// Looks whether what lies there is the same row, and puts its length beside the address, in units; 0 if it isn't or
  /// is very long. In the order of the log, so that address translation costs little. `rows` is not needed any more.
  private mutating func verifyOlder() throws(StoreError) {
    var count = 0
    for position in 0..<sorted.count where older[position] != 0 {
      rows[count] = Row(hash: 0, word: UInt64(position), head: older[position])
      count += 1
    }
    guard count > 0 else { return }
    rows.sortByHead(0..<count, with: spare)
    for index in 0..<count {
      if index + Self.lookahead < count {
        let later = rows[index + Self.lookahead]
        table.prefetch(later.head)
        table.prefetch(sorted[Int(later.word)].address)
      }
      let position = Int(rows[index].word)
      let row = sorted[position]
      let record = try record(rows[index].head)
      let isSame =
        unsafe parts[row.keyspace].keyspace.locator.isRow(record, row.hash)
        && record.key.equals(table.key(row.address))
      let units = UInt64(record.header.paddedLength / Format.unit)
      older[position] = isSame && units < 1 << 25 ? rows[index].head | units << 39 : 0
    }
  }

  /// Enters a part into the hash index of its keyspace. Rows that an ordered keyspace has not had are put into `rows`
  /// from a place on; returns where they end.
  private mutating func enter(
    _ range: Range<Int>, of keyspace: KeyspaceIndex, freshFrom first: Int
  ) throws(StoreError) -> Int {
    let locator = keyspace.locator
    var fresh = first
    var hasDeletes = false
    for position in range {
      if position + Self.lookahead < range.upperBound {
        locator.index.prefetch(sorted[position + Self.lookahead].hash)
      }
      let row = sorted[position]
      let older = try unsafe findOlder(row, position, locator)
      if let older = unsafe older, let segment = unsafe segments[table.slot(older.address)] {
        unsafe segment.liveBytes.subtract(older.length, ordering: .relaxed)
        unsafe keyspace.live.add(-older.length, slot: segment.slot)
      }
      if row.isPut {
        if let older = unsafe older {
          unsafe locator.index.replace(older.slot, row.address)
        } else {
          locator.index.insert(row.hash, row.address)
          keyspace.rowCount.add(1, ordering: .relaxed)
          if keyspace.tree != nil {
            rows[fresh] = row
            fresh += 1
          }
        }
      } else if let older = unsafe older {
        hasDeletes = true
        try unsafe keyspace.tree?.remove(table.key(row.address), row.hash)
        unsafe locator.index.remove(row.hash, older.slot)
        keyspace.rowCount.subtract(1, ordering: .relaxed)
      }
    }
    return hasDeletes ? dropDeleted(first..<fresh, locator) : fresh
  }

  /// The row's record as it is in the index now.
  @inline(__always)
  private func findOlder(
    _ row: Row, _ position: Int, _ locator: RowLocator
  ) throws(StoreError) -> (slot: HashIndex.Slot, address: UInt64, length: Int)? {
    let verified = older[position]
    if verified > Row.addressMask {
      let address = verified & Row.addressMask
      if let slot = unsafe locator.index.find(row.hash, { $0 == address }) {
        return unsafe (slot, address, Int(truncatingIfNeeded: verified >> 39) * Format.unit)
      }
    }
    // A record at hand has taken its place, or there was none.
    var found: (address: UInt64, length: Int)?
    let slot = try unsafe locator.index.find(row.hash) { (address) throws(StoreError) in
      let record = try self.record(address)
      guard locator.isRow(record, row.hash), unsafe record.key.equals(table.key(row.address)) else { return false }
      found = (address, record.header.paddedLength)
      return true
    }
    guard let slot = unsafe slot, let found else { return nil }
    return unsafe (slot, found.address, found.length)
  }

  private func record(_ address: UInt64) throws(StoreError) -> RecordView {
    guard let record = table.record(address) else {
      throw StoreError(.corrupted, "a record's checksum is wrong", place: table.place(address))
    }
    return record
  }

  /// Of rows that were new, those that are still there; one that was deleted and put again, once.
  private mutating func dropDeleted(_ range: Range<Int>, _ locator: RowLocator) -> Int {
    var kept = range.lowerBound
    var seen: Set<UInt64> = []
    for position in range {
      let row = rows[position]
      guard unsafe locator.index.find(row.hash, { locator.isAt($0, row.hash) }) != nil, seen.insert(row.hash).inserted
      else { continue }
      rows[kept] = row
      kept += 1
    }
    return kept
  }

  // MARK: In order

  /// Adds rows to the ordered index.
  private mutating func addInOrder(_ range: Range<Int>, to part: Part) throws(StoreError) {
    guard !range.isEmpty, let tree = part.keyspace.tree else { return }
    let shared = part.shared?.count ?? 0
    // Heads that end before the keys begin to differ are all alike, those that begin behind it tell nothing.
    let isUseful = part.headStart <= shared && shared < part.headStart + 8
    if !isUseful { readHeads(range, from: shared) }
    sort(range, headStart: isUseful ? part.headStart : shared)
    let (rows, table) = (rows, table)
    try unsafe tree.insert(range.count) { (number) throws(StoreError) in
      let position = range.lowerBound + number
      if position + Self.lookahead < range.upperBound { table.prefetch(rows[position + Self.lookahead].address) }
      return unsafe (table.key(rows[position].address), rows[position].hash)
    }
  }

  private mutating func readHeads(_ range: Range<Int>, from start: Int) {
    for position in range {
      if position + Self.lookahead < range.upperBound { table.prefetch(rows[position + Self.lookahead].address) }
      rows[position].head = unsafe table.key(rows[position].address).head(start)
    }
  }

  /// Sorts by heads, and rows whose heads are alike by the keys behind them.
  private mutating func sort(_ range: Range<Int>, headStart: Int) {
    rows.sortByHead(range, with: spare)
    var start = range.lowerBound
    while start < range.upperBound {
      var end = start + 1
      while end < range.upperBound, rows[end].head == rows[start].head { end += 1 }
      if end - start > 1 { sortAlike(start..<end, from: headStart) }
      start = end
    }
  }

  private mutating func sortAlike(_ range: Range<Int>, from start: Int) {
    // A short key is padded with zeros in its head, so keys may also differ in length alone.
    let first = unsafe table.key(rows[range.lowerBound].address)
    var shared = first.count
    var shortest = first.count
    for position in range.dropFirst() {
      if position + Self.lookahead < range.upperBound { table.prefetch(rows[position + Self.lookahead].address) }
      let key = unsafe table.key(rows[position].address)
      shared = unsafe min(shared, first.sharedPrefix(key))
      shortest = min(shortest, key.count)
    }
    if range.count <= 32 || shared < start + 8 || shared == shortest {
      var keyed: [(key: [UInt8], row: Row)] = []
      for position in range { keyed.append(unsafe (Array(table.key(rows[position].address)), rows[position])) }
      keyed.sort { $0.key.lexicographicallyPrecedes($1.key) }
      for (position, pair) in zip(range, keyed) { rows[position] = pair.row }
      return
    }
    readHeads(range, from: shared)
    sort(range, headStart: shared)
  }
}
