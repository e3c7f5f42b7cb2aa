import CCairnPlatform
import Synchronization

/// Enters the records read from the log into the indexes: for each row the record with the highest sequence, in
/// whatever order the records come.
///
/// A record of a row that the index already contains replaces the one there, a group of records at a time, so that
/// their cache misses overlap (after Chen, Ailamaki, Gibbons and Mowry, "Improving hash join performance through
/// prefetching", 2004). Others are gathered, then sorted by their positions in the hash indexes, so that one part of an
/// index after the other is in the cache; rows that are new to an ordered keyspace are sorted by key and added a leaf
/// at a time. (As in Manegold, Boncz and Kersten, "Optimizing main-memory join on modern hardware", 2002: partition
/// until the working set fits the cache.) Before a store is shared.
struct Replay: ~Copyable {
  private struct Part {
    let keyspace: KeyspaceIndex
    var isDropped = false
    /// The prefix that all its keys seen so far share.
    var shared: [UInt8]?
    /// Offset in the keys at which the heads of the gathered rows begin.
    var headStart = 0
    /// Number of the gathered rows.
    var count = 0
    /// Records that have not been looked up yet.
    var group: [RowBuffer.Row] = []
    /// Number of rows that its tree contains and its hash index does not, and that will come again; nil if it is not
    /// known.
    var expected: Int? = 0
    /// Number of rows that its hash index did not contain, and that have come.
    var arrived = 0

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

  /// The number of rows gathered before they are entered; each takes 72 bytes.
  private static let capacity = 2 << 20
  /// Number of records that are looked up together.
  private static let groupSize = 128
  /// How many rows ahead a record is prefetched.
  private static let lookahead = 10
  /// Number of rows of a part whose pages fit into the cache together.
  private static let rowsAtOnce = 40_000

  private let index: Index
  private let table: SegmentTable
  private var parts: [Part] = []
  private var partsByID: [KeyspaceID: Int] = [:]
  /// The keyspace of the last record: most records are of the same keyspace as the one before.
  private var last: (id: KeyspaceID, number: Int)?
  private var rows: RowBuffer
  private var sorted: RowBuffer
  private var spare: RowBuffer
  private var segments: [Segment?] = []
  private var firstExtents: [Int?] = []
  /// By how much the live bytes of each segment have changed, by its first extent.
  private let live = LiveBytes()
  /// Rows that are deleted as far as is known. Their tombstones stay in the hash indexes until the end, because an
  /// older record may still come.
  private var tombstones: [RowBuffer.Row] = []
  private var older: OlderVersions
  /// Index of the first of these whose row has not been removed from the trees.
  private var firstInTrees = 0
  /// Whether trees contain rows that the hash indexes do not, and that will come again. Until then trees cannot be
  /// changed, and the rows to be added wait.
  private var isExpecting = false
  private var waiting: [RowBuffer.Row] = []
  /// A bitmap, with at least four bits for each row of a partition.
  private var seen = [UInt64](repeating: 0, count: 1 << 12)

  /// A replay into indexes that are empty.
  /// - Throws: `noMemory`.
  static func into(_ index: Index) throws(StoreError) -> Replay {
    Replay(
      index, rows: try RowBuffer(capacity: capacity), sorted: try RowBuffer(capacity: capacity),
      spare: try RowBuffer(capacity: capacity))
  }

  private init(_ index: Index, rows: RowBuffer, sorted: RowBuffer, spare: RowBuffer) {
    self.index = index
    table = index.table
    older = OlderVersions(index: index)
    self.rows = rows
    self.sorted = sorted
    self.spare = spare
  }

  /// Notes that the indexes contain what a checkpoint of this commit contains.
  mutating func begin(after sequence: CommitSequence) { older.loaded = sequence }

  /// Adds a segment whose records may come, or be superseded.
  mutating func enter(_ segment: Segment) {
    while segments.count < segment.extents.upperBound {
      segments.append(nil)
      firstExtents.append(nil)
    }
    for extent in segment.extents {
      segments[extent] = segment
      firstExtents[extent] = segment.extent
    }
  }

  /// Notes that rows have been removed from a hash index, and not from the tree. A record of each of them will come.
  mutating func expectAgain(_ keyspace: KeyspaceIndex, rows: Int, tombstones: Int) {
    isExpecting = true
    guard let number = partsByID[keyspace.id] else { return }
    // Deleted rows are in no tree, and may be put again.
    parts[number].expected = tombstones > 0 ? nil : rows
  }

  /// Adds a keyspace.
  ///
  /// - Parameter mayRetain: whether older versions may be retained, as far as is known.
  mutating func enter(_ keyspace: KeyspaceIndex, mayRetain: Bool = false) {
    guard partsByID[keyspace.id] == nil else { return }
    if mayRetain { older.enter(parts.count, keyspace) }
    partsByID[keyspace.id] = parts.count
    parts.append(Part(keyspace: keyspace))
  }

  /// Notes that from a commit on a keyspace retains this many older versions of a row; false if the keyspace has not
  /// been entered.
  mutating func retain(_ id: KeyspaceID, oldVersions: UInt32, since: CommitSequence) throws(StoreError) -> Bool {
    guard let number = partsByID[id] else { return false }
    if !older.retains(number) {
      // Records superseded up to here have not been retained.
      try finish()
      older.enter(number, parts[number].keyspace)
    }
    older.retain(number, oldVersions: oldVersions, since: since)
    return true
  }

  /// Notes that older versions of a row have been removed with their segment: if the row is deleted, only its tombstone
  /// may remain.
  mutating func checkAgain(at hash: RowHash, of id: KeyspaceID) {
    if let number = partsByID[id] { older.checkAgain(number, hash) }
  }

  /// Adds a put or a tombstone; false if its keyspace has not been entered.
  mutating func add(_ record: RecordView, at address: LogAddress, in segment: Segment) throws(StoreError) -> Bool {
    let id = record.header.keyspace
    if last?.id != id { last = partsByID[id].map { (id, $0) } }
    guard let number = last?.number else { return false }
    let isPut = record.header.isPut
    if !isPut { segment.tombstoneBytes.add(record.header.paddedLength, ordering: .relaxed) }
    let hash = unsafe index.hash(id, record.base + record.header.length, record.header.keyLength)
    parts[number].group.append(
      RowBuffer.Row(hash: hash, address: address, isPut: isPut, keyspace: number, head: 0))
    if parts[number].group.count == Self.groupSize { try enterGroup(number) }
    return true
  }

  // MARK: Moves

  /// Notes that a record that the checkpoint has at an old address has been moved.
  mutating func addMove(_ record: RecordView, from old: LogAddress, to address: LogAddress, in segment: Segment) {
    guard let number = partsByID[record.header.keyspace] else { return }
    if rows.count == Self.capacity { finishMoves(to: segment) }
    parts[number].count &+= 1
    let units = UInt64(record.header.paddedLength / Format.unit)
    rows.append(
      RowBuffer.Row(
        hash: unsafe parts[number].keyspace.hash(record.key),
        address: address, isPut: record.header.isPut, keyspace: number,
        head: old.rawValue | (units < 1 << 25 ? units << 39 : 0)))
  }

  /// Moves the rows to the new addresses of their records, if the checkpoint's index has the old ones.
  mutating func finishMoves(to segment: Segment) {
    _ = partition()
    for position in 0..<sorted.count {
      if position + Self.lookahead < sorted.count {
        let later = sorted[position + Self.lookahead]
        parts[later.keyspace].keyspace.locator.index.prefetch(later.hash)
      }
      let row = sorted[position]
      let keyspace = parts[row.keyspace].keyspace
      let old = LogAddress(row.head & RowBuffer.Row.addressMask)
      let units = Int(truncatingIfNeeded: row.head >> 39)
      let length = units > 0 ? units * Format.unit : table.verified(row.address).header.paddedLength
      if let slot = unsafe keyspace.locator.index.find(row.hash, { $0 == old }) {
        unsafe keyspace.locator.index.replace(slot, row.address)
      } else if index.versions.move(row.hash, from: old, to: row.address, units: UInt32(length / Format.unit)) == nil {
        continue
      }
      segment.liveBytes.add(length, ordering: .relaxed)
      keyspace.live.add(length, extent: segment.extent)
      if !row.isPut { segment.tombstoneBytes.subtract(length, ordering: .relaxed) }
    }
    rows.count = 0
    for number in parts.indices { parts[number].count = 0 }
  }

  /// Removes a keyspace with all its rows.
  mutating func drop(_ id: KeyspaceID) throws(StoreError) {
    try finish()
    guard let number = partsByID.removeValue(forKey: id) else { return }
    last = nil
    parts[number].isDropped = true
    older.leave(number)
    let keyspace = parts[number].keyspace
    for (extent, bytes) in keyspace.live.byExtent { segments[extent]?.liveBytes.subtract(bytes, ordering: .relaxed) }
    for version in index.versions.versions(where: { version, _ in version.keyspace == id }) {
      _ = index.versions.remove(version.hash, sequence: version.sequence)
    }
    index.remove(keyspace)
    keyspace.clear()
  }

  /// Enters all gathered records.
  mutating func finish() throws(StoreError) {
    for number in parts.indices where !parts[number].group.isEmpty { try enterGroup(number) }
    try enterGathered()
  }

  private mutating func enterGathered() throws(StoreError) {
    guard rows.count > 0 else { return }
    var partitions = partition()
    countNewRows(&partitions)
    var start = 0
    var fresh: [(part: Int, rows: Range<Int>)] = []
    for partition in partitions where partition.end > start {
      let (number, end) = (partition.keyspace, partition.end)
      if fresh.last?.part != number {
        let after = fresh.last?.rows.upperBound ?? 0
        fresh.append((number, after..<after))
      }
      let known = fresh[fresh.count - 1].rows
      parts[number].keyspace.locator.index.reserve(
        partition.newRows, part: partition.number, bits: partition.bits)
      let all = try enter(start..<end, of: number, freshFrom: known.upperBound)
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

  /// Enters all gathered records, and removes deleted rows.
  mutating func end() throws(StoreError) {
    try finish()
    try takeOutOfTrees()
    for number in parts.indices where !parts[number].isDropped { try addWaiting(number) }
    waiting = []
    for (extent, bytes) in live.changes { segments[extent]?.liveBytes.add(bytes, ordering: .relaxed) }
    try settleOlder()
    for row in tombstones where !parts[row.keyspace].isDropped && !older.retains(row.keyspace) {
      let index = parts[row.keyspace].keyspace.locator.index
      if let slot = unsafe index.find(row.hash, { $0 == row.address }) { unsafe index.remove(row.hash, slot) }
    }
    tombstones = []
  }

  /// Keeps older versions as the retentions require; deleted rows that stay because of such versions go back into the
  /// trees.
  private mutating func settleOlder() throws(StoreError) {
    var number: Int?
    for row in try older.settle(tombstones, segments) {
      if let last = number, last != row.keyspace || rows.count == Self.capacity { try addGathered(last) }
      number = row.keyspace
      // Its record may have superseded one of a checkpoint, and so not have been counted in the shared prefix of the
      // keys.
      unsafe parts[row.keyspace].note(table.key(row.address))
      rows.append(row)
    }
    if let number { try addGathered(number) }
  }

  /// Adds the rows of a keyspace that have waited, and are not deleted, to its tree.
  private mutating func addWaiting(_ number: Int) throws(StoreError) {
    // If exactly the expected rows have come, the tree has them all already.
    guard !tombstones.isEmpty || parts[number].arrived != parts[number].expected else { return }
    let locator = parts[number].keyspace.locator
    for row in waiting where row.keyspace == number {
      guard tombstones.isEmpty || isThere(row, locator) else { continue }
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
    /// Index in `sorted` at which it ends.
    var end = 0
    /// Approximate number of its rows that are new to the index.
    var newRows = 0
  }

  /// Sorts by keyspace and, within a keyspace, by part of the hash index; the records of one row stay in the order in
  /// which they came.
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
    func place(_ row: RowBuffer.Row) -> Int {
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

  /// Enters the records of a group whose rows the index contains. The others are gathered, and so are those that bring
  /// a deleted row back, which the tree does not contain.
  private mutating func enterGroup(_ number: Int) throws(StoreError) {
    if Self.capacity - rows.count < Self.groupSize { try enterGathered() }
    var group: [RowBuffer.Row] = []
    swap(&group, &parts[number].group)
    let keyspace = parts[number].keyspace
    let locator = keyspace.locator
    for row in group { locator.index.prefetch(row.hash) }
    let known = group.map { locator.likelyAddress($0.hash) }
    for address in known where address != 0 { table.prefetch(address) }
    for row in group {
      let own = table.verified(row.address)
      if own.header.isPut { add(own.header.paddedLength, at: row.address, keyspace.live) }
      if let (slot, known) = unsafe try find(row, own.key, locator),
        known.isPut || !row.isPut || known.sequence > own.header.sequence
      {
        _ = unsafe supersede(slot, known, by: row, own.header, keyspace)
      } else {
        let key = unsafe own.key
        unsafe parts[number].note(key)
        var gathered = row
        gathered.head = unsafe key.head(parts[number].headStart)
        rows.append(gathered)
      }
    }
    group.removeAll(keepingCapacity: true)
    swap(&group, &parts[number].group)
  }

  /// Adds to the live bytes of a keyspace and of the segment.
  @inline(__always)
  private func add(_ bytes: Int, at address: LogAddress, _ liveOfKeyspace: LiveBytes) {
    guard let extent = firstExtents[table.extent(address)] else { return }
    live.add(bytes, extent: extent)
    liveOfKeyspace.add(bytes, extent: extent)
  }

  /// The record that the index has of a row.
  private struct Known {
    let address: LogAddress
    let header: RecordHeader

    var isPut: Bool { header.isPut }
    var sequence: CommitSequence { header.sequence }
  }

  /// The record that the index has of the same row as another record, and its extent.
  @inline(__always)
  private func find(
    _ row: RowBuffer.Row, _ key: @autoclosure () -> UnsafeRawBufferPointer, _ locator: RowLocator
  ) throws(StoreError) -> (slot: HashIndex.Slot, known: Known)? {
    var known: Known?
    let slot = try unsafe locator.index.find(row.hash) { (address) throws(StoreError) in
      guard let record = table.record(address) else { throw locator.corruption(address) }
      guard record.header.keyspace == locator.keyspace, unsafe record.key.equals(key()) else {
        return false
      }
      known = Known(address: address, header: record.header)
      return true
    }
    guard let slot = unsafe slot, let known else { return nil }
    return unsafe (slot, known)
  }

  /// Leads a row to `row`, if that record is newer than the known one; true if that brings the row back.
  private mutating func supersede(
    _ slot: HashIndex.Slot, _ known: Known, by row: RowBuffer.Row, _ own: RecordHeader, _ keyspace: KeyspaceIndex
  ) -> Bool {
    let isOlder = known.sequence > own.sequence
    let (dead, address) = isOlder ? (own, row.address) : (known.header, known.address)
    if older.retains(row.keyspace) { older.add(row.keyspace, row.hash, address, segments) }
    if dead.isPut { add(-dead.paddedLength, at: address, keyspace.live) }
    guard !isOlder else { return false }
    unsafe keyspace.locator.index.replace(slot, row.address)
    if !row.isPut { tombstones.append(row) }
    guard known.isPut != row.isPut else { return false }
    if row.isPut {
      keyspace.rowCount.add(1, ordering: .relaxed)
    } else {
      keyspace.rowCount.subtract(1, ordering: .relaxed)
    }
    return row.isPut
  }

  /// Counts approximately how many rows of each part are new: by linear counting (Whang, Vander-Zanden and Taylor,
  /// 1990), without the estimate, since there are many bits.
  private mutating func countNewRows(_ partitions: inout [Partition]) {
    var start = 0
    for place in partitions.indices where partitions[place].end > start {
      for word in seen.indices { seen[word] = 0 }
      for position in start..<partitions[place].end {
        let row = sorted[position]
        let bit = Int(truncatingIfNeeded: row.hash.rawValue & UInt64(seen.count * 64 - 1))
        if row.isPut, seen[bit >> 6] & 1 << UInt64(bit & 63) == 0 {
          seen[bit >> 6] |= 1 << UInt64(bit & 63)
          partitions[place].newRows += 1
        }
      }
      start = partitions[place].end
    }
  }

  /// Enters a part into the hash index of its keyspace. Rows that are new to an ordered keyspace are put into `rows`,
  /// from `first` on; returns the index at which they end.
  private mutating func enter(
    _ range: Range<Int>, of number: Int, freshFrom first: Int
  ) throws(StoreError) -> Int {
    let keyspace = parts[number].keyspace
    let locator = keyspace.locator
    var fresh = first
    let firstTombstone = tombstones.count
    for position in range {
      if position + Self.lookahead < range.upperBound {
        locator.index.prefetch(sorted[position + Self.lookahead].hash)
      }
      let row = sorted[position]
      var isNew = row.isPut
      if let (slot, known) = unsafe try find(row, table.key(row.address), locator) {
        isNew = unsafe supersede(slot, known, by: row, table.verified(row.address).header, keyspace)
      } else {
        locator.index.insert(row.hash, row.address)
        parts[number].arrived += 1
        if row.isPut { keyspace.rowCount.add(1, ordering: .relaxed) } else { tombstones.append(row) }
      }
      if isNew, keyspace.tree != nil {
        rows[fresh] = row
        fresh += 1
      }
    }
    return tombstones.count > firstTombstone ? dropDeleted(first..<fresh, locator) : fresh
  }

  /// Keeps, of rows that were new, those that still exist; a row that was deleted and put again, once. A newer record
  /// of a row has not made the row new again.
  private mutating func dropDeleted(_ range: Range<Int>, _ locator: RowLocator) -> Int {
    var kept = range.lowerBound
    var seen: Set<RowHash> = []
    for position in range {
      let row = rows[position]
      guard isThere(row, locator), seen.insert(row.hash).inserted else { continue }
      rows[kept] = row
      kept += 1
    }
    return kept
  }

  private func isThere(_ row: RowBuffer.Row, _ locator: RowLocator) -> Bool {
    unsafe locator.index.find(row.hash) { address in
      locator.isAt(address, row.hash) && table.verified(address).header.isPut
    } != nil
  }

  // MARK: In order

  /// Adds rows to the ordered index.
  private mutating func addInOrder(_ range: Range<Int>, to part: Part) throws(StoreError) {
    guard !range.isEmpty, let tree = part.keyspace.tree else { return }
    let shared = part.shared?.count ?? 0
    // Heads that end before the keys begin to differ are all alike; heads that begin after that point do not give the
    // order.
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
