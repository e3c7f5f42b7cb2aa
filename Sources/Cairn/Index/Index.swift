import CCairnPlatform
import Synchronization

/// The index in memory: every keyspace's rows, the older versions that somebody may still read, and the newest commit
/// that readers see.
///
/// The protocol between readers and the one writer is in Documentation/ARCHITECTURE.md.
final class Index: Sendable {
  /// Distinguishes this index from every other that this process has ever had.
  let number: UInt64
  private let process = cairn_process()
  let hash: KeyHash
  let table: SegmentTable
  let eras: Eras
  let arena: Arena
  let versions: VersionTable
  let snapshots = SnapshotRegistry()
  /// How many of the snapshots users of the store hold.
  let heldSnapshots = Atomic<Int>(0)
  let newRows = NewRows()
  let dictionaries = DictionaryTable()
  /// The newest commit that readers see.
  let published: Atomic<CommitSequence>
  /// The newest commit whose changes the writer has begun to enter.
  let applying: Atomic<CommitSequence>
  private let keyspaces = Lock(KeyspaceList())
  /// Whether commits are made by another process. Then only that process can give numbers to keyspaces.
  private let isReadOnly: Bool
  /// In a store opened for reading, the keyspaces that have been asked for and are not defined, by name.
  private let expected = Lock<[String: KeyspaceIndex]>([:])

  private static let count = Atomic<UInt64>(0)

  init(hashSeed: UInt64, table: SegmentTable, isReadOnly: Bool = false) {
    self.isReadOnly = isReadOnly
    number = Self.count.add(1, ordering: .relaxed).newValue
    hash = KeyHash(seed: hashSeed)
    self.table = table
    eras = Eras()
    arena = Arena(eras: eras)
    versions = VersionTable(arena: arena)
    published = Atomic(0)
    applying = Atomic(0)
  }

  /// Whether this is the process that opened the store. In a process forked from it, any lock may be held by a thread
  /// that does not exist there, and the files belong to the parent.
  @inline(__always)
  var isOfThisProcess: Bool { process == cairn_process() }

  @inline(__always)
  func checkProcess() throws(StoreError) {
    guard isOfThisProcess else { throw Self.forked }
  }

  private static var forked: StoreError {
    StoreError(.forked, "the store was opened before this process was forked; open it again in this process")
  }

  // MARK: Keyspaces

  /// By id.
  var allKeyspaces: [KeyspaceIndex] { keyspaces.withLock { $0.all } }

  func keyspace(id: KeyspaceID) -> KeyspaceIndex? { keyspaces.withLock { $0[id] } }

  /// The keyspace of that name, created if there is none. It becomes part of the store with its first write; before
  /// that it takes nothing from the arena, which belongs to the writer.
  func keyspace(named name: String, isOrdered: Bool) throws(StoreError) -> KeyspaceIndex {
    try keyspaces.withLock { (keyspaces) throws(StoreError) in
      if let known = keyspaces[name] { return known }
      try keyspaces.checkRoom(for: name)
      guard !isReadOnly else { return expect(name, isOrdered: isOrdered) }
      let keyspace = KeyspaceIndex(
        id: keyspaces.next, name: name, isOrdered: isOrdered, hash: hash, table: table, arena: arena)
      keyspaces.add(keyspace)
      return keyspace
    }
  }

  /// A keyspace that has no rows and never will: it leads to the one that a later commit defines by this name.
  private func expect(_ name: String, isOrdered: Bool) -> KeyspaceIndex {
    expected.withLock { expected in
      if let known = expected[name] { return known }
      let keyspace = KeyspaceIndex(
        id: 0, name: name, isOrdered: isOrdered, hash: hash, table: table, arena: arena)
      keyspace.droppedAt.store(0, ordering: .relaxed)
      expected[name] = keyspace
      return keyspace
    }
  }

  /// Enters a keyspace that recovery has found, with the rows that a checkpoint has of it, unless it is known already.
  func restore(
    _ id: KeyspaceID, _ name: String, isOrdered: Bool, definedAt: CommitSequence,
    from image: CheckpointTables.Keyspace? = nil
  ) -> KeyspaceIndex {
    keyspaces.withLock { keyspaces in
      if let known = keyspaces[id] { return known }
      let keyspace = KeyspaceIndex(
        id: id, name: name, isOrdered: isOrdered, hash: hash, table: table, arena: arena, from: image)
      keyspace.definedAt.store(definedAt, ordering: .relaxed)
      keyspaces.add(keyspace)
      _ = expected.withLock { $0.removeValue(forKey: name) }?.definition.storeIfNil(keyspace)
      return keyspace
    }
  }

  /// Removes a keyspace from the list, so that it is not found any more. Whoever has a reference to it keeps it.
  func remove(_ keyspace: KeyspaceIndex) {
    keyspaces.withLock { $0.remove(keyspace) }
  }

  /// Higher than all ids ever used, those of dropped keyspaces included.
  var nextKeyspaceID: KeyspaceID { keyspaces.withLock { $0.next } }

  func reserveKeyspaceIDs(below next: KeyspaceID) { keyspaces.withLock { $0.reserve(below: next) } }

  /// Bytes of memory that the index takes. It does not contain the keys.
  var bytes: Int { arena.bytes + allKeyspaces.reduce(0) { $0 + $1.locator.index.directoryBytes } }

  // MARK: Reading

  /// Whether a keyspace is part of the latest state. For a reader that has pinned the era.
  @inline(__always)
  func hasNow(_ keyspace: KeyspaceIndex) -> Bool {
    let droppedAt = keyspace.droppedAt.load(ordering: .acquiring)
    return droppedAt == .max || droppedAt > published.load(ordering: .acquiring)
  }

  /// The newest published record of a key. For a reader that has pinned the era.
  @inline(__always)
  func latest(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ key: UnsafeRawBufferPointer
  ) throws(StoreError) -> RecordView? {
    guard let found = try unsafe keyspace.locator.find(hash, key) else { return nil }
    let record = unsafe found.record
    if record.header.sequence > published.load(ordering: .acquiring) {
      return try unsafe beforeCommit(keyspace, hash, key, record)
    }
    return record.header.isTombstone ? nil : record
  }

  /// The row as it was before a commit that isn't published yet, or as it is if the commit has been published
  /// meanwhile.
  @inline(never)
  private func beforeCommit(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ key: UnsafeRawBufferPointer, _ record: RecordView
  ) throws(StoreError) -> RecordView? {
    if let older = try unsafe version(keyspace, hash, key, at: published.load(ordering: .acquiring)) { return older }
    // The writer removes the older version only after it has published the commit.
    guard record.header.sequence <= published.load(ordering: .acquiring), !record.header.isTombstone else { return nil }
    return record
  }

  /// The record of a key that a snapshot sees. For a reader that has pinned the era and holds the snapshot.
  @inline(__always)
  func record(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ key: UnsafeRawBufferPointer, at sequence: CommitSequence
  ) throws(StoreError) -> RecordView? {
    guard let found = try unsafe keyspace.locator.find(hash, key) else { return nil }
    if unsafe found.record.header.sequence > sequence { return try unsafe version(keyspace, hash, key, at: sequence) }
    return unsafe found.record.header.isTombstone ? nil : found.record
  }

  /// The record of a row of which only the hash is known.
  @inline(__always)
  func record(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, at sequence: CommitSequence
  ) throws(StoreError) -> RecordView? {
    guard let found = try unsafe keyspace.locator.find(hash) else { return nil }
    if unsafe found.record.header.sequence > sequence {
      return try unsafe version(keyspace, hash, found.record.key, at: sequence)
    }
    return unsafe found.record.header.isTombstone ? nil : found.record
  }

  /// The older version of a row that was its newest at `sequence`, if there is one in the table.
  @inline(never)
  func version(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ key: UnsafeRawBufferPointer, at sequence: CommitSequence
  ) throws(StoreError) -> RecordView? {
    guard let address = versions.find(hash, asOf: sequence) else { return nil }
    guard let record = table.record(address) else { throw keyspace.locator.corruption(address) }
    guard record.header.keyspace == keyspace.id, unsafe record.key.equals(key) else { return nil }
    return record.header.isTombstone ? nil : record
  }

  /// The history of a row after a commit, newest first. For a reader that has pinned the era and
  /// holds the commit as a snapshot.
  func history(
    _ keyspace: KeyspaceIndex, _ hash: RowHash, _ key: UnsafeRawBufferPointer, at sequence: CommitSequence
  ) throws(StoreError) -> [RecordView] {
    guard let found = try unsafe keyspace.locator.find(hash, key) else { return [] }
    var records = unsafe found.record.header.sequence <= sequence ? [found.record] : []
    for version in versions.all(hash, asOf: sequence) {
      guard let record = table.record(version.address) else { throw keyspace.locator.corruption(version.address) }
      // A record that was the newest and has been superseded meanwhile is found twice.
      guard record.header.keyspace == keyspace.id, unsafe record.key.equals(key),
        record.header.sequence != records.first?.header.sequence
      else { continue }
      records.append(record)
    }
    records.sort { $0.header.sequence > $1.header.sequence }
    return records.count == 1 && records[0].header.isTombstone ? [] : records
  }
}
