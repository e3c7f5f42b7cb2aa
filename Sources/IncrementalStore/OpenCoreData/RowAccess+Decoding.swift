package import OpenCoreData
import RowFormat

/// Objects keep their rows encoded until several values have been read. They may outlive the store.
extension RowAccess: RowDecoder {
  package func values(of bytes: [UInt8], _ objectID: NSManagedObjectID) -> [ManagedValue] {
    checked(objectID) { map in try values(of: bytes, map) { neighbour(of: objectID, $0, $1) } }
  }

  package func value(at place: Int, of bytes: [UInt8], _ objectID: NSManagedObjectID) -> ManagedValue {
    checked(objectID) { map in
      guard let stored = map.field(ofSlot: place) else {
        return map.unread.first { $0.slot == place }?.value ?? .null
      }
      guard let field = try FieldReader.field(stored.number, of: bytes) else { return .null }
      return try value(field, stored, bytes) { neighbour(of: objectID, $0, $1) }
    }
  }

  private func checked<Result>(_ objectID: NSManagedObjectID, _ decode: (EntityMap) throws -> Result) -> Result {
    do {
      if let map = schema[objectID.entity] { return try decode(map) }
      fatalError("The schema does not have the entity of \(objectID), whose row was read.")
    } catch {
      fatalError("The row of \(objectID) was checked, and cannot be decoded: \(error)")
    }
  }

  /// The object at the other end of a relationship, whose reference is a number if the row meets the rules.
  private func neighbour(of id: NSManagedObjectID, _ reference: RowReference, _ map: EntityMap) -> NSManagedObjectID {
    guard case .integer(let number) = reference else { fatalError("\(reference) is not the number of an object.") }
    return id.neighbour(of: map.entity, number: number)
  }
}
