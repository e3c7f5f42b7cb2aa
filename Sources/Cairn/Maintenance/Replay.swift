import CCairnPlatform
import Synchronization

/// Enters what is read from the log into the indexes: of each row the record with the highest revision, in whatever order
/// they come.
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

  /// A record of a row that is in the index already.
  private struct Known {
    var address: UInt64
    var length: Int
    var isPut: Bool
    /// Than the one that is to be entered.
    var isNewer: Bool

    init(_ address: UInt64, _ header: RecordHeader, isNewer: Bool) {
      self.address = address
      length = header.paddedLength
      isPut = header.isPut
      self.isNewer = isNewer
    }

    private static let unitsMask: UInt64 = 1 << 23 - 1

    /// In one word; nil for a record that is too long.
    var packed: UInt64? {
      let units = UInt64(length / Format.unit)
      return units > Self.unitsMask ? nil : address | units << 39 | (isPut ? 1 << 62 : 0) | (isNewer ? 1 << 63 : 0)
    }

    /// nil for an address alone.
    init?(packed word: UInt64) {
      length = Int(truncatingIfNeeded: word >> 39 & Self.unitsMask) * Format.unit
      guard length > 0 else { return nil }
      address = word & Row.addressMask
      isPut = word & 1 << 62 != 0
      isNewer = word & 1 << 63 != 0
    }
  }

  private struct Part {
    let keyspace: KeyspaceIndex
    var isDropped = false
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
  /// For each row of `sorted` the log address of the record that is in the index, and the rest once it is known to be the row's.
  private var known: [UInt64] = []
  private var segments: [Segment?] = []
  /// Rows that are deleted as far as is known. Their tombstones stay in the hash indexes until the end, because an older
  /// record may come later.
  private var tombstones: [Row] = []
  private var older: OlderVersions
  /// From which on of these the rows have not been taken out of the trees.
  private var firstInTrees = 0
  /// Whether trees have rows that the hash indexes have not, which will come again. Trees cannot be changed until then,
  /// and the rows that are to be added wait.
  private var isExpecting = false
  private var waiting: [Row] = []
  /// Bits, four or more for each row of a partition.
  private var seen = [UInt64](repeating: 0, count: 1 << 12)

  init(index: Index) {
    self.index = index
    table = index.table
    older = OlderVersions(index: index)
    rows = RowBuffer(capacity: Self.capacity)
    sorted = RowBuffer(capacity: Self.capacity)
    spare = RowBuffer(capacity: Self.capacity)
  }

  /// The indexes have what a checkpoint has.
  mutating func begin(behind sequence: UInt64) { older.loaded = sequence }

  /// A segment whose records may come, or be superseded.
  mutating func enter(_ segment: Segment) {
    while segments.count < segment.slots.upperBound { segments.append(nil) }
    for slot in segment.slots { segments[slot] = segment }
  }

  /// Rows have been taken out of hash indexes, and not out of trees. A record of each of them will come.
  mutating func expectAgain() { isExpecting = true }

  /// - Parameter mayRetain: whether older versions may have to be kept, as far as is known.
  mutating func enter(_ keyspace: KeyspaceIndex, mayRetain: Bool = false) {
    guard partsByID[keyspace.id] == nil else { return }
    if mayRetain { older.enter(parts.count, keyspace) }
    partsByID[keyspace.id] = parts.count
    parts.append(Part(keyspace: keyspace))
  }

  /// From a commit on so many versions are kept behind the newest; false if the keyspace has not been entered.
  mutating func retain(_ id: UInt32, oldVersions: UInt32, since: UInt64) throws(StoreError) -> Bool {
    guard let number = partsByID[id] else { return false }
    if !older.retains(number) {
      // What has been superseded up to here has gone.
      try finish()
      older.enter(number, parts[number].keyspace)
    }
    older.retain(number, oldVersions: oldVersions, since: since)
    return true
  }

  /// A put or a tombstone; false if its keyspace has not been entered.
  mutating func add(_ record: RecordView, at address: UInt64, in segment: Segment) throws(StoreError) -> Bool {
    guard let number = partsByID[record.header.keyspace] else { return false }
    if rows.count == Self.capacity { try finish() }
    let key = unsafe record.key
    unsafe parts[number].note(key)
    let isPut = record.header.isPut
    if isPut {
      segment.liveBytes.add(record.header.paddedLength, ordering: .relaxed)
      parts[number].keyspace.live.add(record.header.paddedLength, slot: segment.slot)
    } else {
      segment.tombstoneBytes.add(record.header.paddedLength, ordering: .relaxed)
    }
    rows.append(
      Row(
        hash: unsafe parts[number].keyspace.hash(key),
        word: address | (isPut ? Row.putBit : 0) | UInt64(number) << 40,
        head: unsafe key.head(parts[number].headStart)))
    return true
  }

  // MARK: Moves

  /// A record that the checkpoint has at an old address has been moved.
  mutating func addMove(_ record: RecordView, from old: UInt64, to address: UInt64, in segment: Segment) {
    guard let number = partsByID[record.header.keyspace] else { return }
    if rows.count == Self.capacity { finishMoves(to: segment) }
    parts[number].count &+= 1
    let units = UInt64(record.header.paddedLength / Format.unit)
    rows.append(
      Row(
        hash: unsafe parts[number].keyspace.hash(record.key),
        word: address | (record.header.isPut ? Row.putBit : 0) | UInt64(number) << 40,
        head: old | (units < 1 << 25 ? units << 39 : 0)))
  }

  /// Leads the rows to where they have been moved, if the checkpoint's index leads to where they were.
  mutating func finishMoves(to segment: Segment) {
    _ = partition()
    for position in 0..<sorted.count {
      if position + Self.lookahead < sorted.count {
        let later = sorted[position + Self.lookahead]
        parts[later.keyspace].keyspace.locator.index.prefetch(later.hash)
      }
      let row = sorted[position]
      let keyspace = parts[row.keyspace].keyspace
      let old = row.head & Row.addressMask
      let units = Int(truncatingIfNeeded: row.head >> 39)
      let length = units > 0 ? units * Format.unit : table.verified(row.address).header.paddedLength
      if let slot = unsafe keyspace.locator.index.find(row.hash, { $0 == old }) {
        unsafe keyspace.locator.index.replace(slot, row.address)
      } else if index.versions.move(row.hash, from: old, to: row.address, units: UInt32(length / Format.unit)) == nil {
        continue
      }
      segment.liveBytes.add(length, ordering: .relaxed)
      keyspace.live.add(length, slot: segment.slot)
      if !row.isPut { segment.tombstoneBytes.subtract(length, ordering: .relaxed) }
    }
    rows.count = 0
    for number in parts.indices { parts[number].count = 0 }
  }

  /// Takes a keyspace away with all its rows.
  mutating func drop(_ id: UInt32) throws(StoreError) {
    try finish()
    guard let number = partsByID.removeValue(forKey: id) else { return }
    parts[number].isDropped = true
    older.leave(number)
    let keyspace = parts[number].keyspace
    for (slot, bytes) in keyspace.live.bySlot { segments[slot]?.liveBytes.subtract(bytes, ordering: .relaxed) }
    for version in index.versions.versions(where: { version, _ in version.keyspace == id }) {
      _ = index.versions.remove(version.hash, sequence: version.sequence)
    }
    index.remove(keyspace)
    keyspace.clear()
  }

  /// Enters what has been gathered.
  mutating func finish() throws(StoreError) {
    guard rows.count > 0 else { return }
    var partitions = partition()
    lookUp(&partitions)
    try verifyKnown()
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
    if isExpecting {
      for (_, range) in fresh { for position in range { waiting.append(rows[position]) } }
    } else {
      try takeOutOfTrees()
      for (number, range) in fresh { try addInOrder(range, to: parts[number]) }
    }
    rows.count = 0
    for number in parts.indices {
      parts[number].count = 0
      parts[number].headStart = parts[number].shared?.count ?? 0
    }
  }

  /// Enters what has been gathered, and takes out what is deleted.
  mutating func end() throws(StoreError) {
    try finish()
    try takeOutOfTrees()
    for number in parts.indices where !parts[number].isDropped { try addWaiting(number) }
    waiting = []
    try settleOlder()
    for row in tombstones where !parts[row.keyspace].isDropped && !older.retains(row.keyspace) {
      let index = parts[row.keyspace].keyspace.locator.index
      if let slot = unsafe index.find(row.hash, { $0 == row.address }) { unsafe index.remove(row.hash, slot) }
    }
    tombstones = []
  }

  /// Keeps older versions as is due; rows that are deleted and stay for their sake go back into the trees.
  private mutating func settleOlder() throws(StoreError) {
    var number: Int?
    for row in try older.settle(tombstones, segments) {
      if let last = number, last != row.keyspace || rows.count == Self.capacity { try addGathered(last) }
      number = row.keyspace
      rows.append(row)
    }
    if let number { try addGathered(number) }
  }

  /// Adds the rows of a keyspace that have waited, and are not deleted, to its tree.
  private mutating func addWaiting(_ number: Int) throws(StoreError) {
    let locator = parts[number].keyspace.locator
    for row in waiting where row.keyspace == number {
      guard isThere(row, locator) else { continue }
      rows.append(row)
      if rows.count == Self.capacity { try addGathered(number) }
    }
    try addGathered(number)
  }

  private mutating func addGathered(_ number: Int) throws(StoreError) {
    KeyOrder(table: table, spare: spare).readHeads(rows, 0..<rows.count, from: parts[number].headStart)
    try addInOrder(0..<rows.count, to: parts[number])
    rows.count = 0
  }

  private mutating func takeOutOfTrees() throws(StoreError) {
    for row in tombstones[firstInTrees...] where !parts[row.keyspace].isDropped {
      try unsafe parts[row.keyspace].keyspace.tree?.remove(table.key(row.address), row.hash)
    }
    firstInTrees = tombstones.count
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
    known.removeAll(keepingCapacity: true)
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
        known.append(likely)
        let bit = Int(truncatingIfNeeded: row.hash & UInt64(seen.count * 64 - 1))
        if likely == 0, row.isPut, seen[bit >> 6] & 1 << UInt64(bit & 63) == 0 {
          seen[bit >> 6] |= 1 << UInt64(bit & 63)
          partitions[place].newRows += 1
        }
      }
      start = end
    }
  }

  /// Looks whether what lies there is the same row, and which of the two records is newer. In the order of the log, so that
  /// address translation costs little. `rows` is not needed any more.
  private mutating func verifyKnown() throws(StoreError) {
    var count = 0
    for position in 0..<sorted.count where known[position] != 0 {
      rows[count] = Row(hash: 0, word: UInt64(position), head: known[position])
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
      let own = table.verified(row.address)
      let isSame =
        unsafe parts[row.keyspace].keyspace.locator.isRow(record, row.hash) && record.key.equals(own.key)
      let isNewer = record.header.revision > own.header.revision
      known[position] = isSame ? Known(rows[index].head, record.header, isNewer: isNewer).packed ?? 0 : 0
    }
  }

  /// Enters a part into the hash index of its keyspace. Rows that an ordered keyspace has not had are put into `rows`
  /// from a place on; returns where they end.
  private mutating func enter(
    _ range: Range<Int>, of keyspace: KeyspaceIndex, freshFrom first: Int
  ) throws(StoreError) -> Int {
    let locator = keyspace.locator
    var fresh = first
    let firstTombstone = tombstones.count
    for position in range {
      if position + Self.lookahead < range.upperBound {
        locator.index.prefetch(sorted[position + Self.lookahead].hash)
      }
      let row = sorted[position]
      var wasThere = false
      if let (slot, known) = try unsafe find(row, position, locator) {
        if !known.isNewer { unsafe locator.index.replace(slot, row.address) }
        let dead = known.isNewer ? row.address : known.address
        if older.retains(row.keyspace) { older.add(row.keyspace, row.hash, dead, segments) }
        wasThere = known.isPut
        if known.isNewer ? row.isPut : wasThere, let segment = segments[table.slot(dead)] {
          let length = known.isNewer ? table.verified(row.address).header.paddedLength : known.length
          segment.liveBytes.subtract(length, ordering: .relaxed)
          keyspace.live.add(-length, slot: segment.slot)
        }
        if known.isNewer { continue }
      } else {
        locator.index.insert(row.hash, row.address)
      }
      if row.isPut {
        if wasThere { continue }
        keyspace.rowCount.add(1, ordering: .relaxed)
        if keyspace.tree != nil {
          rows[fresh] = row
          fresh += 1
        }
      } else {
        if wasThere { keyspace.rowCount.subtract(1, ordering: .relaxed) }
        tombstones.append(row)
      }
    }
    return tombstones.count > firstTombstone ? dropDeleted(first..<fresh, locator) : fresh
  }

  /// The row's record as it is in the index now.
  @inline(__always)
  private func find(
    _ row: Row, _ position: Int, _ locator: RowLocator
  ) throws(StoreError) -> (slot: HashIndex.Slot, known: Known)? {
    if let verified = Known(packed: known[position]),
      let slot = unsafe locator.index.find(row.hash, { $0 == verified.address })
    {
      return unsafe (slot, verified)
    }
    // A record at hand has taken its place, there was none, or it is very long.
    var found: Known?
    let slot = try unsafe locator.index.find(row.hash) { (address) throws(StoreError) in
      let (record, own) = (try self.record(address), table.verified(row.address))
      guard locator.isRow(record, row.hash), unsafe record.key.equals(own.key) else { return false }
      found = Known(address, record.header, isNewer: record.header.revision > own.header.revision)
      return true
    }
    guard let slot = unsafe slot, let found else { return nil }
    return unsafe (slot, found)
  }

  private func record(_ address: UInt64) throws(StoreError) -> RecordView {
    guard let record = table.record(address) else {
      throw StoreError(.corrupted, "a record's checksum is wrong", place: table.place(address))
    }
    return record
  }

  /// Of rows that were new, those that are still there; one that was deleted and put again, once. A newer record of one
  /// has not made it new again.
  private mutating func dropDeleted(_ range: Range<Int>, _ locator: RowLocator) -> Int {
    var kept = range.lowerBound
    var seen: Set<UInt64> = []
    for position in range {
      let row = rows[position]
      guard isThere(row, locator), seen.insert(row.hash).inserted else { continue }
      rows[kept] = row
      kept += 1
    }
    return kept
  }

  private func isThere(_ row: Row, _ locator: RowLocator) -> Bool {
    unsafe locator.index.find(row.hash) { address in
      locator.isAt(address, row.hash) && table.verified(address).header.isPut
    } != nil
  }

  // MARK: In order

  /// Adds rows to the ordered index.
  private mutating func addInOrder(_ range: Range<Int>, to part: Part) throws(StoreError) {
    guard !range.isEmpty, let tree = part.keyspace.tree else { return }
    let shared = part.shared?.count ?? 0
    // Heads that end before the keys begin to differ are all alike, those that begin behind it tell nothing.
    let isUseful = part.headStart <= shared && shared < part.headStart + 8
    let order = KeyOrder(table: table, spare: spare)
    if !isUseful { order.readHeads(rows, range, from: shared) }
    order.sort(rows, range, headStart: isUseful ? part.headStart : shared)
    let (rows, table) = (rows, table)
    try unsafe tree.insert(range.count) { (number) throws(StoreError) in
      let position = range.lowerBound + number
      if position + Self.lookahead < range.upperBound { table.prefetch(rows[position + Self.lookahead].address) }
      return unsafe (table.key(rows[position].address), rows[position].hash)
    }
  }
}
