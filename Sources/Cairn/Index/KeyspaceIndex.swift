import Synchronization

/// The index of one keyspace: its rows by hash and, if it is ordered, in order.
@safe final class KeyspaceIndex: Sendable, Numbered {
  let id: KeyspaceID
  let name: String
  let locator: RowLocator
  /// nil in an unordered keyspace.
  let tree: OrderedIndex?
  let rowCount = Atomic<Int>(0)
  /// The commit that defined it; 0 until there is one.
  let definedAt = Atomic<CommitSequence>(0)
  /// In a store opened for reading, the keyspace that stands for one that the writer had not defined when somebody
  /// asked for it; nil until the writer has.
  let definition = AtomicLazyReference<KeyspaceIndex>()
  /// The commit that dropped it.
  let droppedAt = Atomic<CommitSequence>(.max)
  let live = LiveBytes()
  /// Bytes of tombstones that are not retained and that its indexes refer to.
  let held = LiveBytes()
  /// The dictionary that new values are compressed with; the index's table of dictionaries retains it.
  let dictionary = unsafe Atomic<Unmanaged<StoredDictionary>?>(nil)
  /// Its newest dictionary when the store was opened, the oldest that new values may be compressed with; 0 if it had
  /// none.
  let firstDictionary = Atomic<DictionaryID>(0)
  /// Bytes of the values put since the store was opened, and how many of them make training a dictionary due.
  let putBytes = Atomic<Int>(0)
  let nextTraining = Atomic<Int>(0)
  /// How many older versions of each row are retained, and the commit that set this number; 0 if none has.
  let oldVersions: Atomic<UInt32>
  let retainedSince: Atomic<CommitSequence>
  /// How many values in a row were stored uncompressed, because compressing did not save enough or was not tried.
  let compressionMisses = Atomic<Int>(0)

  /// Begins without rows, or with those whose nodes a checkpoint has brought into the arena.
  init(
    id: KeyspaceID, name: String, isOrdered: Bool, hash: KeyHash, table: SegmentTable, arena: Arena,
    from image: CheckpointTables.Keyspace? = nil
  ) {
    self.id = id
    self.name = name
    let index = HashIndex(arena: arena, directory: image?.directory ?? [])
    let locator = RowLocator(keyspace: id, hash: hash, index: index, table: table)
    self.locator = locator
    let root = image.map(\.root) ?? 0
    tree = isOrdered ? OrderedIndex(arena: arena, locator: locator, root: root == 0 ? Arena.blank : root) : nil
    oldVersions = Atomic(image?.oldVersions ?? 0)
    retainedSince = Atomic(image?.retainedSince ?? 0)
    rowCount.store(image?.rows ?? 0, ordering: .relaxed)
    for live in image?.live ?? [] { self.live.add(live.bytes, extent: live.extent) }
  }

  var isOrdered: Bool { tree != nil }

  /// Whether it was not dropped at or before a commit.
  @inline(__always)
  func exists(at sequence: CommitSequence) -> Bool { droppedAt.load(ordering: .acquiring) > sequence }

  /// Whether a future value may be compressed with a dictionary.
  func mayUse(dictionary: DictionaryID) -> Bool { dictionary >= firstDictionary.load(ordering: .relaxed) }

  /// Gives back all its memory. Nobody may be able to see any of its rows. For the writer only.
  func clear() {
    locator.index.clear()
    tree?.clear()
  }

  @inline(__always)
  func hash(_ key: UnsafeRawBufferPointer) -> RowHash {
    guard let base = key.baseAddress else {
      return unsafe locator.hash(id, UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped, 0)
    }
    return unsafe locator.hash(id, base, key.count)
  }

  /// Inserts a row that is known to be absent.
  func insert(_ key: UnsafeRawBufferPointer, _ hash: RowHash, _ address: LogAddress) throws(StoreError) {
    locator.index.insert(hash, address)
    try unsafe tree?.insert(key, hash)
  }

  /// Removes a row whose newest record is a tombstone, when nobody can see an older version of it any more. The
  /// tombstone contains the key. Returns the tombstone's address and length.
  func remove(_ hash: RowHash) throws(StoreError) -> (address: LogAddress, length: Int)? {
    guard let (slot, address, newest) = unsafe try locator.find(hash), newest.header.isTombstone else { return nil }
    try unsafe tree?.remove(newest.key, hash)
    unsafe locator.index.remove(hash, slot)
    return (address, newest.header.paddedLength)
  }
}
