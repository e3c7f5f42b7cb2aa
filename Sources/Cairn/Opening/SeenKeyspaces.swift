/// What the records read so far say about keyspaces, in whatever order they come.
struct SeenKeyspaces {
  private var dropped: Set<KeyspaceID> = []
  /// For keyspaces that are not defined so far, the place of a record.
  private var undefined: [KeyspaceID: Place] = [:]

  func isDropped(_ id: KeyspaceID) -> Bool { dropped.contains(id) }

  mutating func drop(_ id: KeyspaceID) { dropped.insert(id) }

  /// Notes a record of a keyspace that is not known. The record that defines or drops the keyspace may be read later.
  mutating func miss(_ id: KeyspaceID, at place: @autoclosure () -> Place) {
    if undefined[id] == nil { undefined[id] = place() }
  }

  /// Throws if a keyspace has records and neither a definition nor a drop.
  func check() throws(StoreError) {
    guard let (id, place) = undefined.filter({ !dropped.contains($0.key) }).min(by: { $0.key < $1.key }) else { return }
    throw StoreError(.damaged, "a record belongs to keyspace \(id), which is not defined", place: place)
  }
}
