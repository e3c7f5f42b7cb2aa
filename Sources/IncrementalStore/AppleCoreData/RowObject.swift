import CoreData

/// Gives predicates, expressions and sort descriptors access to a row by key-value coding. Two are equal if they stand
/// for the same object.
final class RowObject: NSObject {
  let row: SourceRow

  init(_ row: SourceRow) { self.row = row }

  override func value(forKey key: String) -> Any? {
    if let field = row.map.field(named: key) { return row.value(of: field) }
    if let set = row.map.set(named: key) { return row.members(of: set) }
    switch key {
    // Objects and identifiers in constants are replaced by rows, too, so that they compare with this one.
    case "self", "objectID": return self
    case "entity": return row.map.entity
    default:
      row.source.note(
        StoreFailure.make(
          NSCoreDataError, "\(row.map.entity.name ?? "") has no stored property with the name \(key)."))
      return nil
    }
  }

  override func isEqual(_ object: Any?) -> Bool { (object as? RowObject)?.row.reference == row.reference }

  override var hash: Int { row.reference.hashValue }
}

extension SourceRow {
  fileprivate func value(of field: EntityMap.StoredField) -> Any? {
    guard read() else { return nil }
    return source.attempt {
      try StoreFailure.reading("The row of \(objectID)") {
        guard let found = try FieldReader.field(field.number, of: stored.bytes), found.type != .null else {
          return nil as Any?
        }
        switch field.kind {
        case .attribute(let attribute):
          return try source.rows.coder.value(found, of: attribute, field.type, in: stored.bytes)
            .anyValue(of: attribute.attributeType)
        case .toOne: return source.row(of: try source.rows.object(found, field, stored.bytes)).map(RowObject.init)
        }
      }
    } ?? nil
  }

  fileprivate func members(of set: EntityMap.StoredSet) -> Any {
    var members: [RowObject] = []
    _ = source.attempt {
      try source.values.forEachMember(of: stored.reference, set.end) { member in
        if let row = source.row(of: member.member) { members.append(RowObject(row)) }
      }
    }
    return set.end.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
  }
}
