import CCairnPlatform
import Synchronization

/// The index in memory: every keyspace's rows, older versions that somebody may still read, and up to which commit all
/// of it is to be seen.
///
/// The protocol between readers and the one writer is in Documentation/ARCHITECTURE.md.
final class Index: Sendable {
  /// Tells it from every other that this process has had.
  let number: UInt64
  private let process = cairn_process()
  let hash: KeyHash
  let table: SegmentTable
  let epochs: Epochs
  let arena: Arena
  let versions: VersionTable
  let snapshots = SnapshotRegistry()
  /// Of these, those that users of the store hold.
  let heldSnapshots = Atomic<Int>(0)
  let newRows = NewRows()
  let dictionaries = DictionaryTable()
  /// The newest commit that readers see.
  let published: Atomic<UInt64>
  /// The newest commit whose changes have begun to be entered.
  let applying: Atomic<UInt64>
  private let keyspaces = Lock(KeyspaceList())

  private static let count = Atomic<UInt64>(0)

  init(hashSeed: UInt64, table: SegmentTable) {
    number = Self.count.add(1, ordering: .relaxed).newValue
    hash = KeyHash(seed: hashSeed)
    self.table = table
    epochs = Epochs()
    arena = Arena(epochs: epochs)
    versions = VersionTable(arena: arena)
    published = Atomic(0)
    applying = Atomic(0)
  }

  /// Whether this is the process that opened the store. In one that was forked from it, somebody who is not there may hold
  /// any lock, and the files are the other's.
  @inline(__always)
  var isOfThisProcess: Bool { process == cairn_process() }

  @inline(__always)
  func checkProcess() throws(StoreError) {
    guard isOfThisProcess else { throw Self.forked }
  }

  private static var forked: StoreError {
    StoreError(.forked, "the store was opened by the process that this one was forked from; open it here to use it")
  }

  // MARK: Keyspaces

  /// By id.
  var allKeyspaces: [KeyspaceIndex] { keyspaces.withLock { $0.all } }

  func keyspace(id: UInt32) -> KeyspaceIndex? { keyspaces.withLock { $0[id] } }

  /// The keyspace of that name, made if there is none. It becomes part of the store with its first write, and takes
  /// nothing from the arena, which is the writer's, before that.
  func keyspace(named name: String, isOrdered: Bool) throws(StoreError) -> KeyspaceIndex {
    try keyspaces.withLock { (keyspaces) throws(StoreError) in
      if let known = keyspaces[name] { return known }
      try keyspaces.checkRoom(for: name)
      let keyspace = KeyspaceIndex(
        id: keyspaces.next, name: name, isOrdered: isOrdered, hash: hash, table: table, arena: arena)
      keyspaces.add(keyspace)
      return keyspace
    }
  }

  /// A keyspace as recovery finds it, with the rows that a checkpoint has of it.
  func restore(
    _ id: UInt32, _ name: String, isOrdered: Bool, definedAt: UInt64, from image: CheckpointTables.Keyspace? = nil
  ) -> KeyspaceIndex {
    keyspaces.withLock { keyspaces in
      if let known = keyspaces[id] { return known }
      let keyspace = KeyspaceIndex(
        id: id, name: name, isOrdered: isOrdered, hash: hash, table: table, arena: arena, from: image)
      keyspace.definedAt.store(definedAt, ordering: .relaxed)
      keyspaces.add(keyspace)
      return keyspace
    }
  }

  /// It is not to be found any more. Whoever has it keeps it.
  func remove(_ keyspace: KeyspaceIndex) {
    keyspaces.withLock { $0.remove(keyspace) }
  }

  /// Above all ids there have been, of keyspaces that were dropped too.
  var nextKeyspaceID: UInt32 { keyspaces.withLock { $0.next } }

  func reserveKeyspaceIDs(below next: UInt32) { keyspaces.withLock { $0.reserve(below: next) } }

  /// Bytes of memory the index takes, the keys not being part of it.
  var bytes: Int { arena.bytes + allKeyspaces.reduce(0) { $0 + $1.locator.index.directoryBytes } }

  // MARK: Reading

  /// Whether a keyspace is part of the latest state. For a reader that has pinned the epoch.
  @inline(__always)
  func hasNow(_ keyspace: KeyspaceIndex) -> Bool {
    let droppedAt = keyspace.droppedAt.load(ordering: .acquiring)
    return droppedAt == .max || droppedAt > published.load(ordering: .acquiring)
  }

  /// The newest record of a key that is published. For a reader that has pinned the epoch.
  @inline(__always)
  func latest(
    _ keyspace: KeyspaceIndex, _ hash: UInt64, _ key: UnsafeRawBufferPointer
  ) throws(StoreError) -> RecordView? {
    guard let found = try unsafe keyspace.locator.find(hash, key) else { return nil }
    let record = unsafe found.record
    if record.header.revision > published.load(ordering: .acquiring) {
      return try unsafe beforeCommit(keyspace, hash, key, record)
    }
    return record.header.isTombstone ? nil : record
  }

  /// The row as it was before a commit that isn't published yet, or as it is if the commit is published meanwhile.
  @inline(never)
  private func beforeCommit(
    _ keyspace: KeyspaceIndex, _ hash: UInt64, _ key: UnsafeRawBufferPointer, _ record: RecordView
  ) throws(StoreError) -> RecordView? {
    if let older = try unsafe version(keyspace, hash, key, at: published.load(ordering: .acquiring)) { return older }
    // The writer takes the older version away after it has published.
    guard record.header.revision <= published.load(ordering: .acquiring), !record.header.isTombstone else { return nil }
    return record
  }

  /// The record of a key that a snapshot sees. For a reader that has pinned the epoch and holds the snapshot.
  @inline(__always)
  func record(
    _ keyspace: KeyspaceIndex, _ hash: UInt64, _ key: UnsafeRawBufferPointer, at sequence: UInt64
  ) throws(StoreError) -> RecordView? {
    guard let found = try unsafe keyspace.locator.find(hash, key) else { return nil }
    if unsafe found.record.header.revision > sequence { return try unsafe version(keyspace, hash, key, at: sequence) }
    return unsafe found.record.header.isTombstone ? nil : found.record
  }

  /// The same for a row of which only the hash is known.
  @inline(__always)
  func record(_ keyspace: KeyspaceIndex, _ hash: UInt64, at sequence: UInt64) throws(StoreError) -> RecordView? {
    guard let found = try unsafe keyspace.locator.find(hash) else { return nil }
    if unsafe found.record.header.revision > sequence {
      return try unsafe version(keyspace, hash, found.record.key, at: sequence)
    }
    return unsafe found.record.header.isTombstone ? nil : found.record
  }

  /// The older version of a row that was its newest at `sequence`, if there is one and it is kept.
  @inline(never)
  func version(
    _ keyspace: KeyspaceIndex, _ hash: UInt64, _ key: UnsafeRawBufferPointer, at sequence: UInt64
  ) throws(StoreError) -> RecordView? {
    guard let address = versions.find(hash, at: sequence) else { return nil }
    guard let record = table.record(address) else { throw keyspace.locator.corruption(address) }
    guard record.header.keyspace == keyspace.id, unsafe record.key.equals(key) else { return nil }
    return record.header.isTombstone ? nil : record
  }

  /// The versions of a row that were kept after a commit, newest first. For a reader that has pinned the epoch and holds
  /// the commit as a snapshot.
  func history(
    _ keyspace: KeyspaceIndex, _ hash: UInt64, _ key: UnsafeRawBufferPointer, at sequence: UInt64
  ) throws(StoreError) -> [RecordView] {
    guard let found = try unsafe keyspace.locator.find(hash, key) else { return [] }
    var records = unsafe found.record.header.revision <= sequence ? [found.record] : []
    for version in versions.all(hash, at: sequence) {
      guard let record = table.record(version.address) else { throw keyspace.locator.corruption(version.address) }
      // One that has been superseded meanwhile is found twice.
      guard record.header.keyspace == keyspace.id, unsafe record.key.equals(key),
        record.header.revision != records.first?.header.revision
      else { continue }
      records.append(record)
    }
    records.sort { $0.header.revision > $1.header.revision }
    return records.count == 1 && records[0].header.isTombstone ? [] : records
  }
}
