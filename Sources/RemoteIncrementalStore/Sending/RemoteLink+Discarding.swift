import IncrementalStore
import OpenCoreData
import RowFormat

extension RemoteLink {
  /// Sets changes aside that an earlier process has sent, of which nobody knows whether they were made.
  func setUnansweredAside() throws {
    var objects: [ObjectReference] = []
    try edit(recordsHistory: false) { rows in
      objects = []
      for (number, change) in try rows.outbox.changes() where change.state == .sent {
        var change = change
        change.state = .unknown
        rows.outbox.put(change, number)
        objects.append(change.object)
      }
    }
    for id in objectIDs(objects) { events.post(.unknown(id)) }
  }

  /// Undoes a change and all later ones of its object.
  func discard(_ number: UInt64) throws {
    var stale: RemoteReference?
    try edit { rows in
      stale = nil
      guard let object = try rows.outbox.change(number)?.object, var origin = try rows.origin(of: object),
        let map = rows.access.schema[object.entity]
      else { return }
      let undone = try origin.changes.filter { $0 >= number }.compactMap { number in
        try rows.outbox.change(number).map { (number: number, change: $0) }
      }
      guard !undone.contains(where: { $0.change.state == .sent }) else {
        throw RemoteError.make("The change is being sent.")
      }
      for (number, change) in undone.reversed() {
        origin.changes.removeAll { $0 == number }
        rows.outbox.remove(number)
        try rows.undo(change, map, &origin)
      }
      rows.set(origin, of: object)
      if undone.contains(where: { $0.change.kind == .insert }) { return try rows.forget(object) }
      guard !origin.isWaiting, let name = map.entity.name else { return }
      stale = origin.identifier.map { RemoteReference(RemoteIdentifier(name, $0)) }
    }
    if let stale { begin { try? await $0.readRecords([stale]) } }
  }
}

extension RecordRows {
  /// Puts an object back to what it was before a change.
  fileprivate mutating func undo(_ change: OutboxRow, _ map: EntityMap, _ origin: inout OriginRow) throws {
    let object = change.object
    origin.tag = nil
    switch change.kind {
    case .insert: try delete(object)
    case .update:
      try set(try existing(values(in: change.base, map)), of: object, map)
      try revert(change.members, of: object, &origin)
      // Until it has been read again.
      setPartial(object)
    case .delete:
      origin.knownSets = []
      let values = try existing(values(in: change.base, map))
      edit(object) { $0.bytes = FieldWriter(isPartial: true).bytes }
      try set(values, of: object, map)
      try expectAllOfLists()
    }
  }

  /// Lets lists be read in whole even if they have not changed: what refers to an object that was deleted here was left
  /// out.
  mutating func expectAllOfLists() throws {
    for (reference, result) in try rows.results() where result.tag != nil {
      var result = result
      result.tag = nil
      let bytes = result.bytes
      add { $0.put(bytes, at: reference, in: ResultRow.table) }
    }
  }
}
