import IncrementalStore
import OpenCoreData
import RowFormat

extension RemoteLink {
  /// Forgets the attributes of objects, a thousand in a batch. Returns the objects that were evicted.
  func evict(_ objectIDs: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
    var evicted: [NSManagedObjectID] = []
    var rest = objectIDs[...]
    while !rest.isEmpty {
      let part = rest.prefix(1000)
      rest = rest.dropFirst(1000)
      let objects = try withStore { store in
        try part.filter { !store.isRegistered($0) }.map { try store.access.reference($0) }
      }
      var done: [ObjectReference] = []
      try edit(recordsHistory: false) { rows in
        done = []
        for object in objects where try rows.evict(object) { done.append(object) }
      }
      evicted += self.objectIDs(done)
    }
    return evicted
  }

  /// Forgets lists that were read before a time, and that are not being read.
  func forgetLists(readBefore date: Double) throws {
    try edit(recordsHistory: false) { rows in
      for (_, result) in try rows.rows.results() where max(result.readAt, result.begunAt) < date {
        guard lists.forget(result.key) else { continue }
        rows.add { additions in
          for (generation, pages) in [(result.generation, result.pages), (result.generation &- 1, result.formerPages)] {
            for page in 0..<pages {
              additions.delete(ResultRow.reference(of: page, generation, of: result.key), in: ResultRow.table)
            }
          }
          additions.delete(ResultRow.reference(of: result.key), in: ResultRow.table)
        }
      }
    }
  }

  /// The objects to evict, those that were read longest ago first.
  func evictable(keepingBytes limit: Int, readBefore date: Double) throws -> [NSManagedObjectID] {
    try withStore { store in
      let rows = RemoteRows(snapshot: try store.rows.snapshot(), access: store.access)
      var found: [(object: ObjectReference, readAt: Double, bytes: Int)] = []
      var total = 0
      try rows.snapshot.forEachRow(in: OriginRow.table, from: nil) { row in
        let bytes = row.bytes
        let origin = try StoreFailure.reading("An origin") { try OriginRow(bytes) }
        let object = ObjectReference(entity: origin.entity, reference: row.reference)
        guard origin.identifier != nil, !origin.isWaiting, !origin.isPinned, let row = try rows.bytes(of: object) else {
          return true
        }
        total += row.count
        if !FieldReader.isPartial(row) || row.count > 1 { found.append((object, origin.readAt, row.count)) }
        return true
      }
      found.sort { $0.readAt < $1.readAt }
      var chosen: [ObjectReference] = []
      for candidate in found {
        guard total > limit || candidate.readAt < date else { break }
        chosen.append(candidate.object)
        total -= candidate.bytes
      }
      return chosen.compactMap { store.access.objectID($0) }
    }
  }
}

extension RecordRows {
  /// Forgets the attributes of an object. Returns false for an object that has to stay.
  fileprivate mutating func evict(_ object: ObjectReference) throws -> Bool {
    guard let map = access.schema[object.entity], var origin = try origin(of: object), origin.identifier != nil,
      !origin.isWaiting, !origin.isPinned, let bytes = try bytes(of: object),
      try !access.isUnloaded(bytes, map)
    else { return false }
    let relationships = map.fields.filter { field in
      if case .toOne = field.kind { true } else { false }
    }
    var kept = try Self.part(bytes, of: relationships)
    kept[0] = FieldReader.partialFormat
    edit(object) { $0.bytes = kept }
    origin.tag = nil
    set(origin, of: object)
    return true
  }
}
