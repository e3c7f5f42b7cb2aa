import CoreData

/// The entries of the row cache by object identifier, in generations: a hash table with linear probing.
///
/// The parts of an entry are in arrays of their own: a search reads hashes, and hardly any other identifier than the
/// wanted one.
struct RowTable {
  /// How many bytes unregistered rows may take.
  private let limit: Int
  /// A power of two of them, of which at most three quarters are used; none at first. Nil for a free place.
  private var ids: [NSManagedObjectID?] = []
  /// The hashes of the identifiers; 0 for a free place.
  private var hashes: [UInt32] = []
  /// Nil if contexts have registered the object, but its row has not been retrieved, or may be out of date.
  private var bytes: [[UInt8]?] = []
  private var states: [State] = []
  private var count = 0
  /// The number of the younger generation, whose entries have been used since it began. The entries of the one before
  /// are the older generation. Those of others stay because contexts have registered them.
  private var generation: UInt32 = 1
  /// The bytes of the unregistered rows of the younger generation.
  private var youngBytes = 0

  private struct State {
    var version: UInt64 = 0
    var revision: UInt64 = 0
    /// When the row was retrieved.
    var time: UInt64 = 0
    /// How many contexts have registered the object.
    var users: Int32 = 0
    var generation: UInt32
  }

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { count == 0 }

  /// The bytes of all unregistered rows, and the number of all rows.
  var size: (unregisteredBytes: Int, rows: Int) {
    (bytes.indices.reduce(0) { $0 + unregisteredBytes(at: $1) }, bytes.count { $0 != nil })
  }

  // MARK: Rows

  /// The place of an entry, which moves into the younger generation. The place is valid until the table changes.
  mutating func use(_ id: NSManagedObjectID) -> Int? {
    guard let place = place(of: id) else { return nil }
    guard states[place].generation != generation else { return place }
    states[place].generation = generation
    youngBytes += unregisteredBytes(at: place)
    return youngBytes > limit / 2 ? startGeneration(with: place) : place
  }

  func row(at place: Int) -> CachedRow? {
    bytes[place].map { CachedRow(bytes: $0, version: states[place].version, revision: states[place].revision) }
  }

  /// When the row at a place was retrieved.
  func time(at place: Int) -> UInt64 { states[place].time }

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
    bytes[place] = nil
    settle(place)
  }

  private mutating func put(_ row: CachedRow, _ time: UInt64, at place: Int) {
    bytes[place] = row.bytes
    states[place].version = row.version
    states[place].revision = row.revision
    states[place].time = time
  }

  // MARK: Registration

  func isRegistered(_ id: NSManagedObjectID) -> Bool { place(of: id).map { states[$0].users > 0 } ?? false }

  mutating func register(_ ids: [NSManagedObjectID]) {
    for id in ids {
      guard let place = use(id) else {
        states[insert(id)].users = 1
        continue
      }
      youngBytes -= unregisteredBytes(at: place)
      states[place].users += 1
    }
  }

  mutating func unregister(_ ids: [NSManagedObjectID]) {
    for id in ids {
      guard let place = use(id), states[place].users > 0 else { continue }
      states[place].users -= 1
      if states[place].users == 0 { settle(place) }
    }
    shrink()
  }

  // MARK: Generations

  /// The bytes of a row, with an estimate of 250 for its array, its identifier and its place in the table.
  private func size(_ bytes: [UInt8]) -> Int { bytes.count + 250 }

  private func isTooLarge(_ bytes: [UInt8]) -> Bool { size(bytes) > limit / 2 }

  private func unregisteredBytes(at place: Int) -> Int {
    guard let bytes = bytes[place], states[place].users == 0 else { return 0 }
    return size(bytes)
  }

  /// Counts the bytes of an entry of the younger generation that has changed. Removes the entry if nobody has registered
  /// the object, and there is no row, or one that is too large.
  private mutating func settle(_ place: Int) {
    guard states[place].users == 0 else { return }
    guard let bytes = bytes[place], !isTooLarge(bytes) else { return vacate(place) }
    youngBytes += size(bytes)
    if youngBytes > limit / 2 { _ = startGeneration(with: place) }
  }

  /// Starts a generation with one entry, and drops the older generation. O(size of the table).
  ///
  /// - Returns: The new place of the entry.
  private mutating func startGeneration(with first: Int) -> Int? {
    let former = generation
    generation &+= 1
    states[first].generation = generation
    youngBytes = unregisteredBytes(at: first)
    let id = ids[first]
    for place in ids.indices {
      while ids[place] != nil, states[place].users == 0, states[place].generation != former,
        states[place].generation != generation
      {
        vacate(place)
      }
    }
    shrink()
    return id.flatMap { self.place(of: $0) }
  }

  // MARK: Places

  private func home(of hash: UInt32) -> Int { Int(hash) & (ids.count - 1) }

  private func next(after place: Int) -> Int { (place + 1) & (ids.count - 1) }

  private func place(of id: NSManagedObjectID) -> Int? {
    guard count > 0 else { return nil }
    let hash = id.cachedHash
    var place = home(of: hash)
    while true {
      if hashes[place] == hash {
        guard let other = ids[place] else { return nil }
        if other.isSame(as: id) { return place }
      } else if hashes[place] == 0, ids[place] == nil {
        return nil
      }
      place = next(after: place)
    }
  }

  /// Inserts an entry without a row for an object that has none, and returns its place.
  private mutating func insert(_ id: NSManagedObjectID) -> Int {
    if count >= ids.count / 4 * 3 { resize(to: max(16, 2 * ids.count)) }
    let hash = id.cachedHash
    var place = home(of: hash)
    while ids[place] != nil { place = next(after: place) }
    ids[place] = id
    hashes[place] = hash
    states[place] = State(generation: generation)
    count += 1
    return place
  }

  /// Frees a place, and moves the entries behind it that would not be found any more: algorithm 6.4 R of Knuth, The Art
  /// of Computer Programming, volume 3.
  private mutating func vacate(_ place: Int) {
    ids[place] = nil
    bytes[place] = nil
    var hole = place
    var place = next(after: place)
    while ids[place] != nil {
      let distance = (place - home(of: hashes[place])) & (ids.count - 1)
      if distance >= (place - hole) & (ids.count - 1) {
        ids.swapAt(hole, place)
        bytes.swapAt(hole, place)
        hashes[hole] = hashes[place]
        states[hole] = states[place]
        hole = place
      }
      place = next(after: place)
    }
    hashes[hole] = 0
    count -= 1
  }

  /// Gives memory back if hardly any of it is used, and more than rows need that are not registered.
  private mutating func shrink() {
    if ids.count > max(16, limit / 256), count < ids.count / 8 { resize(to: ids.count / 4) }
  }

  private mutating func resize(to capacity: Int) {
    let (formerIDs, formerBytes, formerStates) = (ids, bytes, states)
    ids = Array(repeating: nil, count: capacity)
    hashes = Array(repeating: 0, count: capacity)
    bytes = Array(repeating: nil, count: capacity)
    states = Array(repeating: State(generation: 0), count: capacity)
    for (former, id) in formerIDs.enumerated() {
      guard let id else { continue }
      var place = home(of: id.cachedHash)
      while ids[place] != nil { place = next(after: place) }
      ids[place] = id
      hashes[place] = id.cachedHash
      bytes[place] = formerBytes[former]
      states[place] = formerStates[former]
    }
  }
}
