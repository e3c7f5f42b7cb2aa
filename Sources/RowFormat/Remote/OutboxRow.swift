/// A change that waits to be sent to a remote service: a row of the outbox, under its number. STORE-FORMAT.md, section
/// 10.
package struct OutboxRow: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The table of the outbox. No entity has its number.
  package static let table = UInt32.max - 3

  package enum Kind: UInt8, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
  }

  package enum State: UInt8, Sendable {
    /// It was never sent.
    case waiting = 0
    /// It was sent, and no answer has come yet.
    case sent = 1
    /// The service has refused it for good.
    case refused = 2
    /// It was sent, the answer was lost, and the service offers nothing against repeating it.
    case unknown = 3
  }

  /// The members that a to-many relationship has gained and lost.
  package struct Members: Hashable, Sendable {
    package let relationship: UInt32
    package var added: [ObjectReference]
    package var removed: [ObjectReference]

    package init(relationship: UInt32, added: [ObjectReference], removed: [ObjectReference]) {
      (self.relationship, self.added, self.removed) = (relationship, added, removed)
    }
  }

  package let object: ObjectReference
  package var kind: Kind
  package var state = State.waiting
  /// A random number, the same each time that the change is sent.
  package var key: UInt128
  /// How often it was sent.
  package var attempts: UInt64 = 0
  /// Not to be sent before, in seconds since the beginning of 2001.
  package var earliest: Double = 0
  /// The fields that were changed, as a row, before the change; in a deletion all of them.
  package var base: [UInt8]
  /// The same fields after the change; no fields in a deletion.
  package var values: [UInt8]
  /// In the order of the relationships.
  package var members: [Members] = []
  /// Why it was refused; empty unless it was.
  package var refusal = ""

  package init(_ kind: Kind, _ object: ObjectReference, key: UInt128, base: [UInt8], values: [UInt8]) {
    (self.kind, self.object, self.key, self.base, self.values) = (kind, object, key, base, values)
  }

  /// The UUID that the service may know the change by: the key with the version and variant bits of a random UUID. Its
  /// first byte is the most significant.
  package var uuid: UInt128 {
    let fixed: UInt128 = 0xF000_C000_0000_0000_0000
    let bits: UInt128 = 0x4000_8000_0000_0000_0000
    return key & ~fixed | bits
  }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    object = try input.object()
    guard let kind = Kind(rawValue: try input.byte()) else { throw input.damage("a change is of an unknown kind") }
    guard let state = State(rawValue: try input.byte()) else { throw input.damage("a change has an unknown state") }
    (self.kind, self.state) = (kind, state)
    key = try input.fixed(UInt128.self)
    attempts = try input.varint()
    earliest = Double(bitPattern: try input.fixed(UInt64.self))
    base = Array(bytes[try input.counted()])
    values = Array(bytes[try input.counted()])
    for _ in 0..<(try input.count()) {
      let relationship = try input.number()
      members.append(Members(relationship: relationship, added: try input.objects(), removed: try input.objects()))
    }
    refusal = try input.text()
    try input.requireEnd()
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.object(object)
    output.byte(kind.rawValue)
    output.byte(state.rawValue)
    output.fixed(key)
    output.varint(attempts)
    output.fixed(earliest.bitPattern)
    output.counted(base)
    output.counted(values)
    output.varint(members.count)
    for change in members {
      output.varint(change.relationship)
      output.objects(change.added)
      output.objects(change.removed)
    }
    output.text(refusal)
    return output.bytes
  }
}

extension ByteOutput {
  fileprivate mutating func objects(_ objects: [ObjectReference]) {
    varint(objects.count)
    for object in objects { self.object(object) }
  }
}

extension ByteInput {
  fileprivate mutating func objects() throws(RowDamage) -> [ObjectReference] {
    var objects: [ObjectReference] = []
    for _ in 0..<(try count()) { objects.append(try object()) }
    return objects
  }
}
