import Synchronization

/// One dictionary of the store. It never changes, and is kept while the store is open.
final class StoredDictionary: Sendable {
  let id: DictionaryID
  let keyspace: KeyspaceID
  let content: LZ4Dictionary

  init(id: DictionaryID, keyspace: KeyspaceID, content: [UInt8]) {
    self.id = id
    self.keyspace = keyspace
    self.content = unsafe content.withUnsafeBytes { unsafe LZ4Dictionary($0) }
  }

  /// The dictionary that a record holds; nil if the record is invalid. FORMAT.md, section 5.
  convenience init?(_ record: RecordView) {
    guard let (id, content) = record.dictionary else { return nil }
    self.init(id: id, keyspace: record.header.keyspace, content: content)
  }
}

extension RecordView {
  /// The id and the bytes of a dictionary; nil if this is not a dictionary record, or an invalid one.
  package var dictionary: (id: DictionaryID, content: [UInt8])? {
    guard header.kind == .dictionary, header.keyLength == 4, header.version == 0,
      case let id = unsafe DictionaryID(UInt32(littleEndian: key.loadUnaligned(as: UInt32.self))), id > 0,
      id <= .highest,
      header.rawLength > 0, header.rawLength <= LZ4Dictionary.maximumLength
    else { return nil }
    guard header.isCompressed else { return unsafe (id, Array(stored)) }
    guard LZ4.isPlausible(stored: header.storedLength, raw: header.rawLength) else { return nil }
    var content = [UInt8](repeating: 0, count: header.rawLength)
    let isWhole = unsafe content.withUnsafeMutableBytes { unsafe LZ4.decompress(stored, into: $0) }
    return isWhole ? (id, content) : nil
  }
}

/// The dictionaries of a store by id. Finding one takes no lock and changes no reference count.
///
/// A hash table whose entries point to dictionaries that this object keeps alive. An entry is filled once; a table that
/// is half full is copied into one of twice the size, which a single atomic store publishes. The old table is kept for
/// readers that still use it.
final class DictionaryTable: Sendable {
  private typealias Entry = Atomic<Unmanaged<StoredDictionary>?>

  /// The address of the table: its number of entries, followed by the entries.
  private let current: Atomic<UInt>
  private let state: Lock<State>

  @safe private struct State {
    var all: [StoredDictionary] = []
    var nextID: DictionaryID = 1
    var tables: [UnsafeMutableRawPointer] = unsafe []
  }

  init() {
    let first = unsafe Self.makeTable(8)
    current = Atomic(UInt(bitPattern: first))
    state = Lock(unsafe State(tables: [first]))
  }

  deinit { state.withLock { unsafe $0.tables.forEach { unsafe $0.deallocate() } } }

  private static func makeTable(_ count: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 8 + count * MemoryLayout<UInt>.stride, alignment: 8)
    unsafe memory.storeBytes(of: count, as: Int.self)
    // Empty entries.
    unsafe (memory + 8).initializeMemory(as: UInt.self, repeating: 0, count: count)
    unsafe (memory + 8).bindMemory(to: Entry.self, capacity: count)
    return unsafe memory
  }

  @inline(__always)
  private func entries(_ table: UInt) -> (entries: UnsafeMutablePointer<Entry>, mask: Int) {
    let memory = unsafe UnsafeMutableRawPointer(bitPattern: table).unsafelyUnwrapped
    return unsafe ((memory + 8).assumingMemoryBound(to: Entry.self), memory.load(as: Int.self) &- 1)
  }

  /// The dictionary with an id; nil if there is none.
  @inline(__always)
  func find(_ id: DictionaryID) -> Unmanaged<StoredDictionary>? {
    let (entries, mask) = unsafe entries(current.load(ordering: .acquiring))
    var position = Int(id.rawValue) & mask
    while let dictionary = unsafe entries[position].load(ordering: .acquiring) {
      if unsafe dictionary._withUnsafeGuaranteedRef({ $0.id }) == id { return unsafe dictionary }
      position = (position &+ 1) & mask
    }
    return nil
  }

  /// Adds a dictionary; false if there is already one with its id.
  @discardableResult
  func add(_ dictionary: StoredDictionary) -> Bool {
    state.withLock { state in
      guard unsafe find(dictionary.id) == nil else { return false }
      state.all.append(dictionary)
      state.nextID = max(state.nextID, dictionary.id.next)
      var (entries, mask) = unsafe entries(current.load(ordering: .relaxed))
      if state.all.count * 2 <= mask + 1 {
        unsafe Self.enter(dictionary, entries, mask)
      } else {
        let larger = unsafe Self.makeTable((mask + 1) * 2)
        unsafe state.tables.append(larger)
        unsafe (entries, mask) = unsafe self.entries(UInt(bitPattern: larger))
        for known in state.all { unsafe Self.enter(known, entries, mask) }
        current.store(UInt(bitPattern: larger), ordering: .releasing)
      }
      return true
    }
  }

  private static func enter(_ dictionary: StoredDictionary, _ entries: UnsafeMutablePointer<Entry>, _ mask: Int) {
    var position = Int(dictionary.id.rawValue) & mask
    while unsafe entries[position].load(ordering: .relaxed) != nil { position = (position + 1) & mask }
    unsafe entries[position].store(Unmanaged.passUnretained(dictionary), ordering: .releasing)
  }

  /// The id for the next dictionary; nil if all ids are used up.
  var nextID: DictionaryID? { state.withLock { $0.nextID <= .highest ? $0.nextID : nil } }

  /// All dictionaries, in order of their ids.
  var all: [StoredDictionary] { state.withLock { $0.all }.sorted { $0.id < $1.id } }
}
