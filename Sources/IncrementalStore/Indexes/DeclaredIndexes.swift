import CoreData

/// The declared indexes of a store, as a snapshot of it has them.
///
/// They are read with each fetch and each save, not once when the store is opened: another coordinator or process may
/// open the store with a model that declares other indexes.
struct DeclaredIndexes {
  /// The revision of the schema's row.
  let revision: UInt64?
  /// By the number of each entity whose objects are in them.
  private let byEntity: [UInt32: [Schema.Index]]

  /// Whether no index has to be built or dropped, and a migration has left nothing to be removed.
  let areReady: Bool
  /// How many migrations have changed the schema.
  let migrations: UInt32

  /// - Parameter haveEntries: Whether the indexes have entries in the store, and not indexes of the database instead.
  private init(_ schema: Schema, _ revision: UInt64?, haveEntries: Bool) {
    self.revision = revision
    areReady = schema.indexes.allSatisfy { $0.state == .ready } && schema.removals.isEmpty
    migrations = schema.migrations
    var byEntity: [UInt32: [Schema.Index]] = [:]
    for index in schema.indexes where haveEntries {
      for entity in schema.family(of: index.entity) { byEntity[entity.number, default: []].append(index) }
    }
    self.byEntity = byEntity
  }

  /// - Parameters:
  ///   - haveEntries: Whether the indexes have entries in the store, and not indexes of the database instead.
  ///   - former: The indexes that were read last, which are kept if the schema has not changed since.
  static func read(
    _ snapshot: any RowSnapshot, haveEntries: Bool, _ former: DeclaredIndexes?
  ) throws -> DeclaredIndexes {
    if let former, former.revision == (try snapshot.stamp(of: StoreHead.schemaReference, in: StoreHead.table))?.revision
    {
      return former
    }
    let row = try snapshot.row(StoreHead.schemaReference, in: StoreHead.table)
    let schema = try row.map { row in try StoreFailure.reading("The schema of the store") { try Schema(row.bytes) } }
    return DeclaredIndexes(schema ?? Schema(), row?.revision, haveEntries: haveEntries)
  }

  /// The indexes that have each object of an entity.
  func ready(for entity: UInt32) -> [Schema.Index] { (byEntity[entity] ?? []).filter { $0.state == .ready } }

  /// Whether no index has the objects of an entity.
  func areNone(for entity: UInt32) -> Bool { byEntity[entity] == nil }

  /// The numbers of the entities whose objects are in an index.
  func entities(in index: Schema.Index) -> [UInt32] {
    byEntity.filter { $0.value.contains { $0.number == index.number } }.map(\.key)
  }

  /// The entries that an object loses and gets in all indexes that saves keep up.
  ///
  /// - Parameters:
  ///   - old: The row of the object before; nil for none.
  ///   - new: The row of the object afterwards; nil for none.
  func changes(
    of object: ObjectReference, from old: [UInt8]?, to new: [UInt8]?
  ) throws(RowDamage) -> (removed: [[UInt8]], added: [[UInt8]]) {
    var (removed, added): ([[UInt8]], [[UInt8]]) = ([], [])
    for index in byEntity[object.entity] ?? [] where index.state != .dropping {
      if let old, let new, try index.hasSameFields(old, new) { continue }
      let former = try old.flatMap { row throws(RowDamage) in try index.key(of: row, normalized: UniqueKey.normalized) }
      let key = try new.flatMap { row throws(RowDamage) in try index.key(of: row, normalized: UniqueKey.normalized) }
      guard former != key else { continue }
      if let former { removed.append(Entry.indexed(object, by: former, index.number)) }
      if let key { added.append(Entry.indexed(object, by: key, index.number)) }
    }
    return (removed, added)
  }
}
