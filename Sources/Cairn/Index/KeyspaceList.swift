/// The keyspaces of a store, by number and by name.
struct KeyspaceList: Sendable {
  /// More are refused, because the manifest names all of them and is written anew with each segment.
  static let maximumCount = 100_000
  /// The limit for all names together.
  static let maximumNameBytes = 64 << 20

  /// By number.
  private(set) var all: [KeyspaceIndex] = []
  private var byID: [KeyspaceID: KeyspaceIndex] = [:]
  private var byName: [String: KeyspaceIndex] = [:]
  private var nameBytes = 0
  /// Higher than all numbers ever used, those of dropped keyspaces included.
  private(set) var next: KeyspaceID = 1

  subscript(_ id: KeyspaceID) -> KeyspaceIndex? { byID[id] }

  subscript(_ name: String) -> KeyspaceIndex? { byName[name] }

  func checkRoom(for name: String) throws(StoreError) {
    guard next <= .highest else {
      throw StoreError(.tooManyKeyspaces, "the store has used up its keyspace identifiers")
    }
    guard all.count < Self.maximumCount, nameBytes + name.utf8.count <= Self.maximumNameBytes else {
      throw StoreError(
        .tooManyKeyspaces,
        "a store has at most \(Self.maximumCount) keyspaces, with \(Self.maximumNameBytes) bytes of names")
    }
  }

  mutating func add(_ keyspace: KeyspaceIndex) {
    // Most keyspaces are added in the order of their numbers.
    all.insert(keyspace, at: keyspace.id > all.last?.id ?? 0 ? all.count : position(keyspace.id))
    byID[keyspace.id] = keyspace
    // Recovery may find a dropped keyspace after the one that has its name now.
    if keyspace.id > byName[keyspace.name]?.id ?? 0 { byName[keyspace.name] = keyspace }
    nameBytes += keyspace.name.utf8.count
    reserve(below: keyspace.id.next)
  }

  mutating func remove(_ keyspace: KeyspaceIndex) {
    guard byID.removeValue(forKey: keyspace.id) != nil else { return }
    all.remove(at: position(keyspace.id))
    if byName[keyspace.name] === keyspace { byName[keyspace.name] = nil }
    nameBytes -= keyspace.name.utf8.count
  }

  mutating func reserve(below id: KeyspaceID) { next = max(next, id) }

  /// The position of the first keyspace that has this number or a higher one.
  private func position(_ id: KeyspaceID) -> Int { all.partitioningIndex { $0.id >= id } }
}
