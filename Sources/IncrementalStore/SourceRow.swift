import CoreData

/// The rows of one snapshot, as predicates, sort descriptors and dictionaries see them.
///
/// Whatever cannot be read counts as no value, and `failure` says why; who has asked looks at that in the end.
final class RowSource {
  let snapshot: any RowSnapshot
  let rows: RowAccess
  private weak let context: NSManagedObjectContext?
  private(set) var failure: (any Error)?
  /// Rows at the other ends of relationships, many of which are asked for again soon.
  private var related: [ObjectReference: SourceRow] = [:]
  private static let relatedLimit = 4096

  init(_ snapshot: any RowSnapshot, _ rows: RowAccess, _ context: NSManagedObjectContext?) {
    self.snapshot = snapshot
    self.rows = rows
    self.context = context
  }

  func reader(of map: EntityMap) -> RowReader<SourceRow> {
    let context = context
    var reader = RowReader<SourceRow> { row in
      context?.object(with: row.objectID)
    } value: { key in
      if let field = map.field(named: key) { return { row in row.value(of: field) } }
      if let set = map.set(named: key) { return { row in row.value(of: set) } }
      return nil
    }
    reader.identity = { row in row }
    return reader
  }

  /// The object of a reference, whose row is not read before it is asked for something.
  fileprivate func value(of object: ObjectReference) -> PredicateValue {
    if let row = related[object] { return .object(row) }
    guard let map = rows.schema[object.entity] else {
      failure =
        failure ?? StoreFailure.damaged("A reference to \(object)", RowDamage("the model lacks its entity", at: 0))
      return .null
    }
    if related.count >= Self.relatedLimit { related = [:] }
    let row = SourceRow(object.reference, map, self)
    related[object] = row
    return .object(row)
  }

  fileprivate func attempt<R>(_ body: () throws -> R) -> R? {
    do {
      return try body()
    } catch {
      if failure == nil { failure = error }
      return nil
    }
  }
}

/// A row of a snapshot.
final class SourceRow {
  /// What is in it, once it is read.
  var stored: StoredRow
  let map: EntityMap
  private unowned let source: RowSource
  private var isRead: Bool
  private var exists = true

  init(_ stored: StoredRow, _ map: EntityMap, _ source: RowSource) {
    self.stored = stored
    self.map = map
    self.source = source
    isRead = true
  }

  fileprivate init(_ reference: RowReference, _ map: EntityMap, _ source: RowSource) {
    stored = StoredRow(reference: reference, bytes: [], version: 0, revision: 0)
    self.map = map
    self.source = source
    isRead = false
  }

  var objectID: NSManagedObjectID { source.rows.objectID(stored.reference, map) }

  /// Another with the same content, which stays.
  func copy() -> SourceRow { SourceRow(stored.copy(), map, source) }

  func value(of field: EntityMap.StoredField) -> PredicateValue {
    guard read() else { return .null }
    return source.attempt {
      try StoreFailure.reading("The row of \(objectID)") {
        guard let found = try FieldReader.field(field.number, of: stored.bytes) else { return .null }
        switch field.kind {
        case .attribute(let attribute):
          return try source.rows.coder.predicateValue(found, of: attribute, in: stored.bytes)
        case .toOne:
          guard found.type != .null else { return .null }
          return source.value(of: try source.rows.object(found, field, stored.bytes))
        }
      }
    } ?? .null
  }

  func value(of set: EntityMap.StoredSet) -> PredicateValue {
    var members: [PredicateValue] = []
    _ = source.attempt {
      try source.snapshot.forEachMember(of: stored.reference, set.end) { members.append(source.value(of: $0.member)) }
    }
    return .collection(members, ordered: set.end.isOrdered)
  }

  /// Whether there is such a row.
  private func read() -> Bool {
    guard !isRead else { return exists }
    isRead = true
    let found = source.attempt { try source.snapshot.row(stored.reference, in: map.number) } ?? nil
    exists = found != nil
    if let found { stored = found }
    return exists
  }
}

extension SourceRow: KeyValueCoding, Identified {
  func value(forKey key: String) -> Any? {
    if let field = map.field(named: key) { return value(of: field) }
    return map.set(named: key).map { value(of: $0) }
  }

  var predicateIdentity: AnyHashable { objectID }
}

extension RowSnapshot {
  /// The members of a to-many relationship, in their order, with the entries that say so.
  func forEachMember(
    of owner: RowReference, _ end: ToManyEnd,
    _ body: (_ member: (member: ObjectReference, position: Int64, entry: [UInt8])) throws -> Void
  ) throws {
    let prefix = Entry.members(of: owner, end.number)
    try forEachEntry(beginningWith: prefix, reverse: false) { entry in
      let (member, position) = try StoreFailure.reading("An entry of the relationship \(end.number)") {
        try Entry.member(in: entry, behind: prefix.count, isOrdered: end.isOrdered)
      }
      try body((member, position, entry))
      return true
    }
  }
}
