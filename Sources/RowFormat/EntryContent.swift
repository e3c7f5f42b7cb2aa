/// The decoded content of an entry: STORE-FORMAT.md, sections 6 and 10.
package enum EntryContent {
  case member(SchemaIndex.Property, owner: RowReference, member: ObjectReference, position: Int64?)
  case key(SchemaIndex.Constraint, key: [UInt8], holder: ObjectReference)
  case indexed(Schema.Index, key: [UInt8], object: ObjectReference)
  /// The remote identifier of an object whose entity inherits from `root`, or is it.
  case identified(root: UInt32, identifier: String, object: ObjectReference)

  /// - Throws: If the bytes are not an entry of the schema, or not the one valid encoding of their content.
  package init(_ bytes: [UInt8], _ schema: SchemaIndex) throws(RowDamage) {
    var input = ByteInput(bytes)
    let number = try input.number()
    let again: [UInt8]
    if let relationship = schema.properties[number], case .toMany(_, let isOrdered) = relationship.property.kind {
      let owner = try input.reference()
      let position = isOrdered ? try input.position() : nil
      let member = try input.object()
      self = .member(relationship, owner: owner, member: member, position: position)
      again = Entry.member(member, of: owner, number, position: position)
    } else if let constraint = schema.constraints[number] {
      let key = Array(bytes[try input.counted()])
      let holder = try input.object()
      self = .key(constraint, key: key, holder: holder)
      again = Entry.holder(holder, of: key, number)
    } else if let index = schema.indexes[number] {
      let start = input.offset
      _ = try input.indexKey(index.properties.count)
      let key = Array(bytes[start..<input.offset])
      let object = try input.object()
      self = .indexed(index, key: key, object: object)
      again = Entry.indexed(object, by: key, number)
    } else if number == Entry.remoteNumber {
      let root = try input.number()
      let identifier = try input.text()
      let object = try input.object()
      self = .identified(root: root, identifier: identifier, object: object)
      again = Entry.remote(identifier, root, object)
    } else {
      throw RowDamage("there is no to-many relationship, constraint or index \(number)", at: 0)
    }
    try input.requireEnd()
    guard again == bytes else { throw RowDamage("a number is longer than necessary", at: 0) }
  }
}
