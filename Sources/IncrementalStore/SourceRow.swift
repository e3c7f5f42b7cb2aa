import CoreData

/// The rows of one snapshot, for predicates, sort descriptors and dictionaries.
///
/// Whatever cannot be read counts as no value, and `failure` says why; who has asked looks at that in the end.
final class RowSource {
  let snapshot: any RowSnapshot
  let rows: RowAccess
  weak let context: NSManagedObjectContext?
  private(set) var failure: (any Error)?
  /// Rows at the other ends of relationships, many of which are asked for again soon.
  private var related: [ObjectReference: SourceRow] = [:]
  private static let relatedLimit = 4096

  init(_ snapshot: any RowSnapshot, _ rows: RowAccess, _ context: NSManagedObjectContext?) {
    self.snapshot = snapshot
    self.rows = rows
    self.context = context
  }

  /// The row of an object, which is not read before it is asked for something; nil if the model lacks the entity.
  func row(of object: ObjectReference) -> SourceRow? {
    if let row = related[object] { return row }
    guard let map = rows.schema[object.entity] else {
      note(StoreFailure.damaged("A reference to \(object)", RowDamage("the model lacks its entity", at: 0)))
      return nil
    }
    if related.count >= Self.relatedLimit { related = [:] }
    let row = SourceRow(object.reference, map, self)
    related[object] = row
    return row
  }

  /// Runs what reads a row, and notes why it cannot.
  func attempt<R>(_ body: () throws -> R) -> R? {
    do {
      return try body()
    } catch {
      note(error)
      return nil
    }
  }

  /// Notes why the fetch fails. The first reason stays.
  func note(_ error: any Error) {
    if failure == nil { failure = error }
  }
}

/// A row of a snapshot.
final class SourceRow {
  /// What is in it, once it is read.
  var stored: StoredRow
  let map: EntityMap
  unowned let source: RowSource
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

  /// Whether there is such a row. Reads it if need be.
  func read() -> Bool {
    guard !isRead else { return exists }
    isRead = true
    let found = source.attempt { try source.snapshot.row(stored.reference, in: map.number) } ?? nil
    exists = found != nil
    if let found { stored = found }
    return exists
  }
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
