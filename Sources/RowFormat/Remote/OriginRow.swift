/// What is known of an object at a remote service: a row of the table of origins, under the object's reference.
/// STORE-FORMAT.md, section 10.
package struct OriginRow: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The table of the origins. No entity has its number.
  package static let table = UInt32.max - 1
  /// The longest remote identifier in bytes.
  package static let longestIdentifier = 512

  /// The entity of the object.
  package let entity: UInt32
  /// The identifier that the service has given to the object; nil if the service does not know the object.
  package var identifier: String?
  /// The version of the object at the service; nil if it is not known.
  package var tag: String?
  /// When the object was last read, in seconds since the beginning of 2001; 0 if it never was.
  package var readAt: Double = 0
  /// Whether the object is never evicted.
  package var isPinned = false
  /// The numbers of the to-many relationships of which all members are known, in ascending order.
  package var knownSets: [UInt64] = []
  /// The numbers of the object's changes in the outbox, in ascending order.
  package var changes: [UInt64] = []

  package init(entity: UInt32) { self.entity = entity }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    entity = try input.number()
    identifier = try input.optionalText()
    tag = try input.optionalText()
    readAt = Double(bitPattern: try input.fixed(UInt64.self))
    isPinned = try input.flag()
    knownSets = try input.ascending()
    changes = try input.ascending()
    guard identifier.map({ $0.utf8.count <= Self.longestIdentifier }) ?? true else {
      throw input.damage("a remote identifier is longer than \(Self.longestIdentifier) bytes")
    }
    try input.requireEnd()
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.varint(entity)
    output.optionalText(identifier)
    output.optionalText(tag)
    output.fixed(readAt.bitPattern)
    output.byte(isPinned ? 1 : 0)
    output.ascending(knownSets)
    output.ascending(changes)
    return output.bytes
  }
}

/// The entries by which objects are found by their remote identifiers. No relationship, constraint or index has their
/// number.
extension Entry {
  package static let remoteNumber: UInt32 = 0

  /// The prefix of the entry of a remote identifier; at most one entry begins with it.
  package static func remote(_ identifier: String, _ entity: UInt32) -> [UInt8] {
    var output = ByteOutput()
    output.varint(remoteNumber)
    output.varint(entity)
    output.text(identifier)
    return output.bytes
  }

  package static func remote(_ identifier: String, _ object: ObjectReference) -> [UInt8] {
    var output = ByteOutput()
    output.append(remote(identifier, object.entity))
    output.reference(object.reference)
    return output.bytes
  }

  /// The object in an entry of a remote identifier.
  package static func remoteObject(in entry: [UInt8]) throws(RowDamage) -> ObjectReference {
    var input = ByteInput(entry)
    _ = try input.number()
    let entity = try input.number()
    _ = try input.text()
    let reference = try input.reference()
    try input.requireEnd()
    return ObjectReference(entity: entity, reference: reference)
  }
}
