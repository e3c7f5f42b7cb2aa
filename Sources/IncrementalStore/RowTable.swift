import CoreData

/// The entries of the row cache by object identifier, in generations.
///
/// The entries are in the order of their insertion, so that a generation is freed along the memory that was allocated
/// for it. A hash table with linear probing finds them.
struct RowTable {
  /// How many bytes unregistered rows may take.
  private let limit: Int
  /// Entries and holes, of which there are at most as many as entries, and a few.
  private var entries: [Entry] = []
  private var count = 0
  /// A power of two of them, of which at most three quarters are used; none at first.
  private var slots: [Slot] = []
  /// The place behind the entry that was used last. Objects are often used in the order in which their rows came, so
  /// the next entry to be used is found here most often, without a search.
  private var following = 0
  /// The number of the younger generation, whose entries have been used since it began. The entries of the one before
  /// are the older generation. Those of others stay because contexts have registered them.
  private var generation: UInt32 = 1
  /// The bytes of the unregistered rows of the younger generation.
  private var youngBytes = 0
  /// Entries that have left the table. Each row that comes frees as many bytes of them as it has, or a few more: all
  /// rows together keep to the limit, and no call waits until a whole generation is freed.
  private var dropped: [Entry] = []

  private struct Entry {
    /// Nil for a hole.
    var id: NSManagedObjectID?
    var hash: UInt32 = 0
    /// Nil if contexts have registered the object, but its row has not been retrieved, or may be out of date.
    var bytes: [UInt8]?
    var version: UInt64 = 0
    var revision: UInt64 = 0
    /// When the row was retrieved.
    var time: UInt64 = 0
    /// How many contexts have registered the object.
    var users: Int32 = 0
    var generation: UInt32

    static let hole = Entry(generation: 0)
  }

  private struct Slot {
    static let free = Slot(hash: 0, place: .max)

    var hash: UInt32
    /// The place of the entry.
    var place: UInt32

    var isFree: Bool { place == .max }
  }

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { count == 0 }

  /// The bytes of all unregistered rows, with those that are not freed yet, and the number of all rows.
  var size: (unregisteredBytes: Int, rows: Int) {
    let unregistered = entries.indices.reduce(0) { $0 + unregisteredBytes(at: $1) }
    return (dropped.reduce(unregistered) { $0 + size($1.bytes) }, entries.count { $0.bytes != nil })
  }

  // MARK: Rows

  /// The place of an entry, which moves into the younger generation. The place is valid until the table changes.
  mutating func use(_ id: NSManagedObjectID) -> Int? {
    let isNext = following < entries.count && entries[following].id?.isSame(as: id) == true
    guard let place = isNext ? following : place(of: id) else { return nil }
    following = place + 1
    guard entries[place].generation != generation else { return place }
    entries[place].generation = generation
    youngBytes += unregisteredBytes(at: place)
    if youngBytes > limit / 2 { startGeneration(with: place) }
    return place
  }

  func row(at place: Int) -> CachedRow? {
    entries[place].bytes.map {
      CachedRow(bytes: $0, version: entries[place].version, revision: entries[place].revision)
    }
  }

  /// When the row at a place was retrieved.
  func time(at place: Int) -> UInt64 { entries[place].time }

  /// Inserts the row of an object that has no entry, unless the row is too large.
  mutating func insert(_ row: CachedRow, _ time: UInt64, of id: NSManagedObjectID) {
    guard !isTooLarge(row.bytes) else { return }
    let place = insert(id)
    put(row, time, at: place)
    settle(place)
  }

  /// Replaces the row of an entry of the younger generation. A row that is too large is removed, unless contexts have
  /// registered the object.
  mutating func replaceRow(at place: Int, with row: CachedRow, _ time: UInt64) {
    youngBytes -= unregisteredBytes(at: place)
    put(row, time, at: place)
    settle(place)
  }

  mutating func removeRow(at place: Int) {
    youngBytes -= unregisteredBytes(at: place)
    entries[place].bytes = nil
    settle(place)
  }

  private mutating func put(_ row: CachedRow, _ time: UInt64, at place: Int) {
    entries[place].bytes = row.bytes
    entries[place].version = row.version
    entries[place].revision = row.revision
    entries[place].time = time
  }

  // MARK: Registration

  func isRegistered(_ id: NSManagedObjectID) -> Bool { place(of: id).map { entries[$0].users > 0 } ?? false }

  mutating func register(_ ids: [NSManagedObjectID]) {
    for id in ids {
      guard let place = use(id) else {
        entries[insert(id)].users = 1
        continue
      }
      youngBytes -= unregisteredBytes(at: place)
      entries[place].users += 1
    }
  }

  mutating func unregister(_ ids: [NSManagedObjectID]) {
    for id in ids {
      guard let place = use(id), entries[place].users > 0 else { continue }
      entries[place].users -= 1
      if entries[place].users == 0 { settle(place) }
    }
    shrink()
  }

  // MARK: Generations

  /// The bytes of a row, with an estimate of 250 for its array, its identifier and its entry.
  private func size(_ bytes: [UInt8]?) -> Int { bytes.map { $0.count + 250 } ?? 0 }

  private func isTooLarge(_ bytes: [UInt8]) -> Bool { size(bytes) > limit / 2 }

  private func unregisteredBytes(at place: Int) -> Int {
    entries[place].users == 0 ? size(entries[place].bytes) : 0
  }

  /// Counts the bytes of an entry of the younger generation that has changed. Removes the entry if nobody has
  /// registered the object, and there is no row, or one that is too large.
  private mutating func settle(_ place: Int) {
    guard entries[place].users == 0 else { return }
    guard let bytes = entries[place].bytes, !isTooLarge(bytes) else { return vacate(place) }
    youngBytes += size(bytes)
    freeDropped(size(bytes))
    if youngBytes > limit / 2 { startGeneration(with: place) }
  }

  private mutating func freeDropped(_ bytes: Int) {
    var rest = bytes
    while rest > 0, let entry = dropped.popLast() { rest -= size(entry.bytes) }
  }

  /// Starts a generation with one entry, and drops the older generation. O(entries).
  private mutating func startGeneration(with first: Int) {
    let former = generation
    generation &+= 1
    entries[first].generation = generation
    youngBytes = unregisteredBytes(at: first)
    dropped = []
    for place in entries.indices where entries[place].id != nil && entries[place].users == 0 {
      guard entries[place].generation != former, entries[place].generation != generation else { continue }
      freeSlot(of: place)
      dropped.append(.hole)
      swap(&entries[place], &dropped[dropped.count - 1])
      count -= 1
    }
    freeDropped(youngBytes)
  }

  // MARK: Places

  private func home(of hash: UInt32) -> Int { Int(hash) & (slots.count - 1) }

  private func next(after slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

  private func place(of id: NSManagedObjectID) -> Int? {
    guard count > 0 else { return nil }
    let hash = id.cachedHash
    var slot = home(of: hash)
    while !slots[slot].isFree {
      let place = Int(slots[slot].place)
      if slots[slot].hash == hash, let other = entries[place].id, other.isSame(as: id) { return place }
      slot = next(after: slot)
    }
    return nil
  }

  /// Inserts an entry without a row for an object that has none, and returns its place.
  private mutating func insert(_ id: NSManagedObjectID) -> Int {
    if count >= slots.count / 4 * 3 || entries.count >= 2 * count + 16 { arrange() }
    entries.append(Entry(id: id, hash: id.cachedHash, generation: generation))
    count += 1
    fillSlot(of: entries.count - 1)
    return entries.count - 1
  }

  private mutating func fillSlot(of place: Int) {
    let hash = entries[place].hash
    var slot = home(of: hash)
    while !slots[slot].isFree { slot = next(after: slot) }
    slots[slot] = Slot(hash: hash, place: UInt32(place))
  }

  /// Makes a hole of an entry.
  private mutating func vacate(_ place: Int) {
    freeSlot(of: place)
    entries[place] = .hole
    count -= 1
  }

  /// Frees the slot of an entry, and moves the slots behind it that would not be found any more: algorithm 6.4 R of
  /// Knuth, The Art of Computer Programming, volume 3.
  private mutating func freeSlot(of place: Int) {
    var hole = home(of: entries[place].hash)
    while slots[hole].place != place { hole = next(after: hole) }
    var slot = next(after: hole)
    while !slots[slot].isFree {
      let distance = (slot - home(of: slots[slot].hash)) & (slots.count - 1)
      if distance >= (slot - hole) & (slots.count - 1) {
        slots[hole] = slots[slot]
        hole = slot
      }
      slot = next(after: slot)
    }
    slots[hole] = .free
  }

  /// Gives memory back if hardly any of it is used, and more than rows need that are not registered.
  private mutating func shrink() {
    if entries.count > max(16, limit / 256), count < entries.count / 8 { arrange() }
  }

  /// Removes the holes, and makes slots for at least half as many entries again. O(entries).
  private mutating func arrange() {
    count = 0
    for place in entries.indices where entries[place].id != nil {
      if count < place { entries.swapAt(count, place) }
      count += 1
    }
    entries.removeLast(entries.count - count)
    if entries.capacity > 8 * count { entries = Array(entries[...]) }
    var capacity = 16
    while capacity < 2 * count { capacity *= 2 }
    slots = Array(repeating: .free, count: capacity)
    for place in entries.indices { fillSlot(of: place) }
  }
}
