import Synchronization

/// A batch in the making: its changes, and their keys and stored values one after the other in one block of memory.
///
/// Belongs to one thread at a time; reused from batch to batch.
@safe final class BatchBuffer: @unchecked Sendable {
  enum Kind: UInt8 {
    case put
    case delete
    /// An expectation only.
    case check
  }

  enum Found: UInt8 {
    case nothing
    case row
    /// A deleted row that still has older versions.
    case tombstone
  }

  @safe struct Change {
    var keyspace: Unmanaged<KeyspaceIndex>
    var hash: RowHash
    var key: Int
    var keyLength: Int
    var value: Int
    var storedLength: Int
    var rawLength: Int
    var expectation: Expectation
    var kind: Kind
    var isCompressed: Bool
    /// The id of the dictionary that the value is compressed with; 0 for none.
    var dictionary: DictionaryID
    // Filled in by the committer.
    var found = Found.nothing
    var address: LogAddress = 0
    var sequence: CommitSequence = 0
    var version: UInt64 = 0
    var length = 0
    /// Length of the value found, before compression.
    var foundRawLength = 0
    var newAddress: LogAddress = 0
  }

  private struct Entry {
    var batch: UInt32
    var change: UInt32
  }

  /// Larger buffers are not used again: bytes of keys and values, and entries of the table by hash, which grows with
  /// the number of changes.
  private static let keptCapacity = 1 << 20
  private static let keptEntries = 1 << 14
  private static let fewestEntries = 64

  private(set) var bytes: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0
  private(set) var changes: UnsafeMutablePointer<Change>
  private var changeCapacity: Int
  private(set) var changeCount = 0
  /// The newest commit before the batch, if no other may be it.
  var expectedNewest: CommitSequence?
  /// Whether the batch is the first to write to a keyspace. Filled in by the committer.
  var definesKeyspaces = false
  /// The keyspaces of the changes, retained here: before the batch is committed, another thread may drop a keyspace and
  /// nothing else may refer to it any more. Most batches have only one.
  @exclusivity(unchecked) private var firstKeyspace: KeyspaceIndex?
  @exclusivity(unchecked) private var otherKeyspaces: [KeyspaceIndex] = []
  /// Finds the newest change of a row by the row's hash. An entry holds the number of its batch and the change's index
  /// plus 1; an entry of another batch is empty. Used only if the batch has more than one change.
  private var byHash: UnsafeMutablePointer<Entry>
  private var byHashCapacity: Int
  private var number: UInt32 = 1
  @exclusivity(unchecked) private var compressor = LZ4Compressor()

  init() {
    capacity = 4096
    unsafe bytes = .allocate(byteCount: capacity, alignment: 16)
    changeCapacity = 16
    unsafe changes = .allocate(capacity: changeCapacity)
    byHashCapacity = Self.fewestEntries
    unsafe byHash = .allocate(capacity: byHashCapacity)
    unsafe Self.clear(byHash, byHashCapacity)
  }

  deinit {
    unsafe bytes.deallocate()
    unsafe changes.deallocate()
    unsafe byHash.deallocate()
  }

  private static func clear(_ entries: UnsafeMutablePointer<Entry>, _ count: Int) {
    unsafe entries.initialize(repeating: Entry(batch: 0, change: 0), count: count)
  }

  /// Whether the buffer takes little enough memory to be kept for another batch.
  var isSmall: Bool { capacity <= Self.keptCapacity && byHashCapacity <= Self.keptEntries }

  /// Prepares the buffer for another batch.
  func reset() {
    count = 0
    changeCount = 0
    expectedNewest = nil
    unsafe firstKeyspace = nil
    if unsafe !otherKeyspaces.isEmpty { unsafe otherKeyspaces = [] }
    number &+= 1
    if number == 0 {
      unsafe Self.clear(byHash, byHashCapacity)
      number = 1
    }
  }

  @inline(__always)
  private func reserve(_ more: Int) throws(StoreError) {
    if count &+ more > capacity { try grow(more) }
  }

  private func grow(_ more: Int) throws(StoreError) {
    var larger = capacity
    while larger < count + more { larger *= 2 }
    let memory = try unsafe allocateMemory(larger)
    unsafe memory.copyMemory(from: bytes, byteCount: count)
    unsafe bytes.deallocate()
    unsafe bytes = unsafe memory
    capacity = larger
  }

  @inline(__always)
  func key(_ change: UnsafeMutablePointer<Change>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: bytes + change.pointee.key, count: change.pointee.keyLength)
  }

  /// Adds a change. Of several changes of one row the last one counts; of their expectations all count.
  func add(
    _ kind: Kind, _ keyspace: KeyspaceIndex, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    expecting expectation: Expectation, compressing: Bool
  ) throws(StoreError) {
    try reserve(key.count &+ value.count)
    let keyOffset = count
    unsafe UnsafeMutableRawBufferPointer(start: bytes + keyOffset, count: key.count).copyMemory(from: key)
    count &+= key.count
    let valueOffset = count
    var isCompressed = false
    var dictionary: DictionaryID = 0
    var storedLength = value.count
    if compressing, let block = unsafe compress(value, keyspace) {
      isCompressed = true
      storedLength = block.length
      dictionary = block.dictionary
    } else if kind == .put {
      unsafe UnsafeMutableRawBufferPointer(start: bytes + valueOffset, count: value.count).copyMemory(from: value)
    }
    count &+= storedLength

    keep(keyspace)
    if changeCount == changeCapacity { try growChanges() }
    if (changeCount &+ 1) &* 2 > byHashCapacity { try growEntries() }
    let change = unsafe changes + changeCount
    unsafe change.initialize(
      to: Change(
        keyspace: .passUnretained(keyspace), hash: keyspace.hash(key), key: keyOffset, keyLength: key.count,
        value: valueOffset, storedLength: storedLength, rawLength: value.count, expectation: expectation, kind: kind,
        isCompressed: isCompressed, dictionary: dictionary))
    changeCount &+= 1
    if changeCount > 1 { supersedeEarlier() }
  }

  @inline(__always)
  private func keep(_ keyspace: KeyspaceIndex) {
    if changeCount == 0 {
      unsafe firstKeyspace = keyspace
    } else if unsafe changes[changeCount &- 1].keyspace.toOpaque() != Unmanaged.passUnretained(keyspace).toOpaque() {
      unsafe otherKeyspaces.append(keyspace)
    }
  }

  private func growChanges() throws(StoreError) {
    let larger = try unsafe allocateMemory(changeCapacity * 2 * MemoryLayout<Change>.stride)
      .bindMemory(to: Change.self, capacity: changeCapacity * 2)
    unsafe larger.moveInitialize(from: changes, count: changeCount)
    unsafe changes.deallocate()
    unsafe changes = unsafe larger
    changeCapacity *= 2
  }

  /// Compresses a value into the memory after the bytes in use, with the keyspace's dictionary if it has one and the
  /// value is short enough. Returns nil if that does not save enough. When 64 values of a keyspace in a row have not
  /// compressed, only every 16th is tried.
  @inline(__always)
  private func compress(
    _ value: UnsafeRawBufferPointer, _ keyspace: KeyspaceIndex
  ) -> (length: Int, dictionary: DictionaryID)? {
    guard value.count >= LZ4Compressor.shortestValue else { return nil }
    let misses = keyspace.compressionMisses.load(ordering: .relaxed)
    if misses >= 64, misses & 15 != 0 {
      keyspace.compressionMisses.store(misses &+ 1, ordering: .relaxed)
      return nil
    }
    var id: DictionaryID = 0
    var length: Int?
    if let dictionary = unsafe keyspace.dictionary.load(ordering: .acquiring),
      value.count <= LZ4Compressor.longestValueWithDictionary
    {
      unsafe dictionary.withBorrowed { dictionary in
        id = dictionary.id
        length = unsafe compressor.compress(value, with: dictionary.content, into: bytes + count)
      }
    } else {
      length = unsafe compressor.compress(value, into: bytes + count)
    }
    if length != nil {
      if misses != 0 { keyspace.compressionMisses.store(0, ordering: .relaxed) }
    } else {
      keyspace.compressionMisses.store(misses &+ 1, ordering: .relaxed)
    }
    return length.map { ($0, id) }
  }

  /// If the newest change writes a row that an earlier change is about, turns the earlier change into a check.
  private func supersedeEarlier() {
    if changeCount == 2 { enterHash(0) }
    if let earlier = enterHash(changeCount - 1) {
      let change = unsafe changes + earlier
      if unsafe change.pointee.kind != .check { unsafe change.pointee.kind = .check }
    }
  }

  private func growEntries() throws(StoreError) {
    let larger = byHashCapacity * 4
    let entries = try unsafe allocateMemory(larger * MemoryLayout<Entry>.stride)
      .bindMemory(to: Entry.self, capacity: larger)
    unsafe Self.clear(entries, larger)
    unsafe byHash.deallocate()
    unsafe byHash = unsafe entries
    byHashCapacity = larger
    for index in 0..<changeCount { enterHash(index) }
  }

  /// Enters a change by its row's hash. Returns the index of the row's previous newest change if this one replaces it.
  @discardableResult
  private func enterHash(_ index: Int) -> Int? {
    let change = unsafe changes + index
    let mask = byHashCapacity &- 1
    var position = unsafe Int(truncatingIfNeeded: change.pointee.hash.rawValue) & mask
    let newest = Entry(batch: number, change: UInt32(index + 1))
    while case let entry = unsafe byHash[position], entry.batch == number {
      let other = unsafe changes + Int(entry.change - 1)
      if unsafe other.pointee.hash == change.pointee.hash,
        unsafe other.pointee.keyspace.toOpaque() == change.pointee.keyspace.toOpaque(),
        unsafe key(other).equals(key(change))
      {
        // A check leaves the change before it in force.
        if unsafe change.pointee.kind == .check { return nil }
        unsafe byHash[position] = newest
        return Int(entry.change - 1)
      }
      position = (position &+ 1) & mask
    }
    unsafe byHash[position] = newest
    return nil
  }
}
