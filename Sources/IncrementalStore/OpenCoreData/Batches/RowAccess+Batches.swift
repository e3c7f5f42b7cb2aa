import OpenCoreData

/// Rows that are written without objects.
extension RowAccess {
  /// The row of a new object.
  ///
  /// - Parameter values: A value for each slot of the entity.
  func bytes(of values: [ManagedValue], _ map: EntityMap) throws -> [UInt8] {
    var row = FieldWriter()
    return try bytes(of: values, map, &row)
  }

  /// As ``bytes(of:_:)``, with a writer that is used again for each row.
  func bytes(of values: [ManagedValue], _ map: EntityMap, _ row: inout FieldWriter) throws -> [UInt8] {
    row.restart()
    for place in map.fields.indices { try write(values[map.fields[place].slot], place, of: map.fields, to: &row) }
    return row.exactBytes
  }

  /// Appends a field of several, without a copy of all that is known of it, if possible.
  @inline(__always)
  private func write(
    _ value: ManagedValue, _ place: Int, of fields: [EntityMap.StoredField], to row: inout FieldWriter
  ) throws {
    guard !row.add(value, fields[place].number, isBoolean: fields[place].isBoolean) else { return }
    try write(value, of: fields[place], to: &row)
  }

  /// A row with other values of some fields. All other fields stay as they are, those of other models too.
  ///
  /// - Parameters:
  ///   - fields: The fields in the order of their numbers.
  ///   - values: The values of the fields, in the same order.
  package func bytes(
    of row: [UInt8], replacing fields: [EntityMap.StoredField], by values: [ManagedValue], _ object: ObjectReference
  ) throws -> [UInt8] {
    var writer = FieldWriter()
    return try bytes(of: row, replacing: fields, by: values, object, &writer)
  }

  /// As ``bytes(of:replacing:by:_:)``, with a writer that is used again for each row.
  func bytes(
    of row: [UInt8], replacing fields: [EntityMap.StoredField], by values: [ManagedValue], _ object: ObjectReference,
    _ writer: inout FieldWriter
  ) throws -> [UInt8] {
    guard !fields.isEmpty else { return row }
    var next = 0
    writer.restart(isPartial: FieldReader.isPartial(row))
    try StoreFailure.reading("The row of \(name(object))") {
      var reader = row.isEmpty ? nil : try FieldReader(row)
      while let (number, field) = try reader?.next() {
        while next < fields.count, fields[next].number < number {
          try write(values[next], next, of: fields, to: &writer)
          next += 1
        }
        if next < fields.count, fields[next].number == number {
          try write(values[next], next, of: fields, to: &writer)
          next += 1
        } else {
          writer.copy(number, field, of: row)
        }
      }
    }
    while next < fields.count {
      try write(values[next], next, of: fields, to: &writer)
      next += 1
    }
    return writer.exactBytes
  }

  /// The objects whose to-many relationships change because the to-one relationships of saved objects do. Their
  /// versions rise, and their contents stay.
  ///
  /// - Throws: 133000 if there is no such object.
  func touched(by objects: [SavedObject], _ snapshot: any RowSnapshot) throws -> [SavedObject] {
    guard objects.contains(where: { $0.map.hasRelationships }) else { return [] }
    let saved = Set(objects.map(\.reference))
    var touched: [ObjectReference: SavedObject] = [:]
    for object in objects {
      for field in object.map.fields {
        guard case .toOne(_, inverse: .toMany) = field.kind else { continue }
        let old = try object.stored.flatMap { try owner(field, in: $0.bytes, object.reference) }
        let new = try object.bytes.flatMap { try owner(field, in: $0, object.reference) }
        guard old != new else { continue }
        for owner in [old, new].compactMap(\.self) where !saved.contains(owner) && touched[owner] == nil {
          guard let map = schema[owner.entity], let row = try snapshot.row(owner.reference, in: owner.entity) else {
            if owner == old { continue }
            throw StoreFailure.make(
              NSManagedObjectReferentialIntegrityError,
              "A batch request relates an object to \(name(owner)), which does not exist.")
          }
          touched[owner] = SavedObject(nil, .locked, owner, map, row)
          touched[owner]?.set(row.bytes)
        }
      }
    }
    return Array(touched.values)
  }

  private func owner(
    _ field: EntityMap.StoredField, in bytes: [UInt8], _ object: ObjectReference
  ) throws -> ObjectReference? {
    try StoreFailure.reading("The row of \(name(object))") {
      try FieldReader.field(field.number, of: bytes)?.object(in: bytes)
    }
  }
}
