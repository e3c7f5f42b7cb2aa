import IncrementalStore
import OpenCoreData
import RowFormat

/// The fields of rows as a service knows them.
struct RowValues {
  private let rows: RemoteRows

  init(_ rows: RemoteRows) { self.rows = rows }

  /// The attributes and to-one relationships in a row, by name. An object that the service does not know is left out.
  func values(of bytes: [UInt8], _ map: EntityMap) throws -> [String: RemoteValue] {
    let known = try RecordRows.numbers(in: bytes)
    var values: [String: RemoteValue] = [:]
    for field in map.fields where known.contains(field.number) {
      let value = try StoreFailure.reading("A change of \(map.entity.name ?? "")") {
        try rows.access.value(of: field, in: bytes)
      }
      switch field.kind {
      case .attribute(let attribute): values[field.name] = RemoteValue(value, attribute.attributeType)
      case .toOne:
        guard let id = value.objectID else {
          values[field.name] = .null
          continue
        }
        values[field.name] = try rows.identifier(of: rows.access.reference(id)).map { .object($0) }
      }
    }
    return values
  }

  /// The objects to which the fields of a row refer.
  func references(in bytes: [UInt8], _ map: EntityMap) throws -> [ObjectReference] {
    try StoreFailure.reading("A change of \(map.entity.name ?? "")") {
      var objects: [ObjectReference] = []
      for field in map.fields {
        guard case .toOne = field.kind, let object = try FieldReader.field(field.number, of: bytes)?.object(in: bytes)
        else { continue }
        objects.append(object)
      }
      return objects
    }
  }
}
