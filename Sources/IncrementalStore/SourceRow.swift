import CoreData

/// The rows of one snapshot, for predicates, sort descriptors and dictionaries.
///
/// A value that cannot be read counts as nil; the reason is kept in `failure`, which the caller checks at the end.
final class RowSource {
  let snapshot: any RowSnapshot
  let rows: RowAccess
  /// The declared indexes that the snapshot has.
  let indexes: DeclaredIndexes
  weak let context: NSManagedObjectContext?
  private(set) var failure: (any Error)?
  /// What the values of rows are read from.
  let values: any RowSnapshot
  /// Nil if values are read one by one, from the snapshot itself.
  private let bulk: BulkSnapshot?
  /// Whether rows that are not known are only noted.
  var isRehearsing: Bool { bulk?.isNoting ?? false }
  /// Rows at the other ends of relationships. Many of them are needed again soon.
  private var related: [ObjectReference: SourceRow] = [:]
  private static let relatedLimit = 4096

  init(
    _ snapshot: any RowSnapshot, _ rows: RowAccess, _ indexes: DeclaredIndexes, _ context: NSManagedObjectContext?
  ) {
    self.snapshot = snapshot
    self.rows = rows
    self.indexes = indexes
    self.context = context
    bulk = snapshot.isRemote ? BulkSnapshot(snapshot) : nil
    bulk?.isNoting = false
    values = bulk ?? snapshot
  }

  /// Reads together what an evaluation of several rows reads of other rows, if each read waits for another machine.
  ///
  /// - Parameter evaluate: Evaluates the rows. What it finds out does not count, since it is called before everything is
  ///   read.
  /// - Complexity: One read for each relationship that is followed after another.
  func rehearse(_ evaluate: () -> Void) throws {
    guard let bulk else { return }
    let before = failure
    bulk.forget()
    bulk.isNoting = true
    defer { (bulk.isNoting, failure) = (false, before) }
    repeat { evaluate() } while try bulk.readWanted()
  }

  /// The row of an object; nil, with a failure noted, if the model lacks the entity. Its bytes are read when they are
  /// first needed.
  func row(of object: ObjectReference) -> SourceRow? {
    if let row = related[object] { return row }
    guard let map = rows.schema[object.entity] else {
      note(StoreFailure.damaged("A reference to \(object)", RowDamage("the model does not have its entity", at: 0)))
      return nil
    }
    if related.count >= Self.relatedLimit { related = [:] }
    let row = SourceRow(object.reference, map, self)
    related[object] = row
    return row
  }

  /// The number of rows of several entities.
  func count(_ maps: [EntityMap]) throws -> Int { try maps.reduce(0) { $0 + (try snapshot.count(in: $1.number)) } }

  /// Runs a closure that reads a row; returns nil and notes the error if it throws.
  func attempt<R>(_ body: () throws -> R) -> R? {
    do {
      return try body()
    } catch {
      note(error)
      return nil
    }
  }

  /// Notes the reason why the fetch fails. Only the first reason is kept.
  func note(_ error: any Error) {
    if failure == nil { failure = error }
  }
}

/// A row of a snapshot.
final class SourceRow {
  /// The contents, once they are read.
  var stored: StoredRow
  let map: EntityMap
  unowned let source: RowSource
  private var isRead: Bool
  private var exists = true
  /// Whether the memory of the bytes is going to have those of other rows.
  private let sharesMemory: Bool

  init(_ stored: StoredRow, _ map: EntityMap, _ source: RowSource, sharesMemory: Bool = false) {
    self.stored = stored
    self.map = map
    self.source = source
    self.sharesMemory = sharesMemory
    isRead = true
  }

  /// A row whose contents are read when they are needed.
  init(_ reference: RowReference, _ map: EntityMap, _ source: RowSource) {
    stored = StoredRow(reference: reference, bytes: [], version: 0, revision: 0)
    self.map = map
    self.source = source
    sharesMemory = false
    isRead = false
  }

  var objectID: NSManagedObjectID { source.rows.objectID(stored.reference, map) }

  var reference: ObjectReference { ObjectReference(entity: map.number, reference: stored.reference) }

  /// A copy that later changes to this row do not affect.
  func copy() -> SourceRow { isRead ? SourceRow(kept, map, source) : unread() }

  /// The contents, which later changes to this row do not affect.
  var kept: StoredRow { sharesMemory ? stored.copy() : stored }

  /// The same row without its contents, which are read again when they are needed.
  func unread() -> SourceRow { SourceRow(stored.reference, map, source) }

  /// Makes this the row of another object, which has not been read yet.
  func reuse(for reference: RowReference) {
    stored.reference = reference
    isRead = false
  }

  /// Whether the row exists. Reads it unless it is already read.
  func read() -> Bool {
    guard !isRead else { return exists }
    let found = source.attempt { try source.values.row(stored.reference, in: map.number) } ?? nil
    if found == nil, source.isRehearsing { return false }
    isRead = true
    exists = found != nil
    if let found { stored = found }
    return exists
  }
}

extension RowSnapshot {
  /// Calls `body` with each member of a to-many relationship, in the order of their entries, and with that entry, until
  /// it returns false.
  func readMembers(
    of owner: RowReference, _ end: ToManyEnd,
    _ body: (_ member: (member: ObjectReference, position: Int64, entry: [UInt8])) throws -> Bool
  ) throws {
    let prefix = Entry.members(of: owner, end.number)
    try forEachEntry(beginningWith: prefix, reverse: false) { entry in
      let (member, position) = try StoreFailure.reading("An entry of the relationship \(end.number)") {
        try Entry.member(in: entry, after: prefix.count, isOrdered: end.isOrdered)
      }
      return try body((member, position, entry))
    }
  }

  /// Calls `body` with all members of a to-many relationship, in the order of their entries.
  package func forEachMember(
    of owner: RowReference, _ end: ToManyEnd,
    _ body: (_ member: (member: ObjectReference, position: Int64, entry: [UInt8])) throws -> Void
  ) throws {
    try readMembers(of: owner, end) { member in
      try body(member)
      return true
    }
  }
}
