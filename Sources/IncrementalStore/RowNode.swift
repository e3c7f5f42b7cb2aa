import CoreData

/// A row as a context gets it: its bytes, which are decoded when a property is read.
final class RowNode: NSIncrementalStoreNode {
  let row: CachedRow
  /// The values that were decoded to check the row; nil if its bytes tell that all its fields can be decoded.
  let decoded: [ManagedValue]?
  let rows: RowAccess
  private let map: EntityMap

  /// Checks that all fields of the row can be decoded as values of the entity.
  ///
  /// - Throws: An error that says where the row is damaged.
  init(_ row: CachedRow, of objectID: NSManagedObjectID, _ map: EntityMap, _ rows: RowAccess) throws {
    self.row = row
    self.map = map
    self.rows = rows
    decoded = try rows.decodedToCheck(row.bytes, of: objectID, map)
    super.init(objectID: objectID, withValues: [:], version: row.version)
  }

  override var version: UInt64 { row.version }

  override func value(for prop: NSPropertyDescription) -> Any? {
    guard let field = map.field(named: prop.name) else { return nil }
    // The row has been decoded once.
    let value = decoded?[field.slot] ?? (try? rows.value(of: field, in: row.bytes))
    return switch field.kind {
    case .attribute(let attribute): value?.anyValue(of: attribute.attributeType)
    case .toOne: value?.objectID ?? NSNull()
    }
  }
}

extension RowAccess {
  /// Checks that all fields of a row can be decoded. Returns the values if that takes decoding them.
  ///
  /// - Throws: An error that says where the row is damaged.
  func decodedToCheck(_ bytes: [UInt8], of objectID: NSManagedObjectID, _ map: EntityMap) throws -> [ManagedValue]? {
    if let rules = map.rules, FieldReader.meets(rules, bytes) { return nil }
    return try StoreFailure.reading("The row of \(objectID)") { try values(of: bytes, map) }
  }
}
