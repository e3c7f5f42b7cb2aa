/// An element of a store's sorted set of entries: a member of a to-many relationship, the holder of a key of a uniqueness
/// constraint, or an object in a declared index.
package enum Entry {
  /// The gap between the positions of members that are added at the end.
  package static let gap: Int64 = 1 << 16

  // MARK: Order

  /// As `lexicographicallyPrecedes(_:)`, which takes several times as long.
  package static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe left.withUnsafeBytes { left in unsafe right.withUnsafeBytes { unsafe order(left, $0) < 0 } }
  }

  /// Negative if the left bytes come before the right ones, 0 if both are equal.
  @inline(__always)
  static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let count = min(left.count, right.count)
    var place = 0
    while place + 8 <= count {
      let (one, other) = unsafe (
        UInt64(bigEndian: left.loadUnaligned(fromByteOffset: place, as: UInt64.self)),
        UInt64(bigEndian: right.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      )
      if one != other { return one < other ? -1 : 1 }
      place += 8
    }
    while place < count {
      let difference = unsafe Int(left[place]) - Int(right[place])
      if difference != 0 { return difference }
      place += 1
    }
    return left.count - right.count
  }

  // MARK: Relationships

  /// The prefix of the entries of all members of an owner.
  package static func members(of owner: RowReference, _ relationship: UInt32) -> [UInt8] {
    var output = ByteOutput()
    output.varint(relationship)
    output.reference(owner)
    return output.bytes
  }

  package static func member(
    _ member: ObjectReference, of owner: RowReference, _ relationship: UInt32, position: Int64? = nil
  ) -> [UInt8] {
    var output = ByteOutput()
    output.member(member, of: owner, relationship, position: position)
    return output.bytes
  }

  /// The member in an entry, after the first `prefix` bytes, and its position in an ordered relationship; 0 in an
  /// unordered one.
  package static func member(
    in entry: [UInt8], after prefix: Int, isOrdered: Bool
  ) throws(RowDamage) -> (member: ObjectReference, position: Int64) {
    var input = ByteInput(entry, min(prefix, entry.count)..<entry.count)
    let position = isOrdered ? try input.position() : 0
    let member = try input.object()
    try input.requireEnd()
    return (member, position)
  }

  /// The prefix of all entries of a relationship, a constraint or an index.
  package static func all(of number: UInt32) -> [UInt8] {
    var output = ByteOutput()
    output.varint(number)
    return output.bytes
  }

  /// The owner and the member in an entry of a to-many relationship.
  package static func membership(
    in entry: [UInt8], isOrdered: Bool
  ) throws(RowDamage) -> (owner: RowReference, member: ObjectReference) {
    var input = ByteInput(entry)
    _ = try input.number()
    let owner = try input.reference()
    if isOrdered { _ = try input.position() }
    let member = try input.object()
    try input.requireEnd()
    return (owner, member)
  }

  // MARK: Uniqueness

  /// The prefix of the entries of a key.
  package static func key(_ key: [UInt8], _ constraint: UInt32) -> [UInt8] {
    var output = ByteOutput(capacity: key.count + 10)
    output.varint(constraint)
    output.counted(key)
    return output.bytes
  }

  /// The bytes of an entry of a constraint up to the end of the key.
  package static func key(in entry: [UInt8]) throws(RowDamage) -> ArraySlice<UInt8> {
    var input = ByteInput(entry)
    _ = try input.number()
    _ = try input.counted()
    return entry[..<input.offset]
  }

  package static func holder(_ object: ObjectReference, of key: [UInt8], _ constraint: UInt32) -> [UInt8] {
    var output = ByteOutput(capacity: key.count + 24)
    output.varint(constraint)
    output.counted(key)
    output.object(object)
    return output.bytes
  }

  // MARK: Indexes

  package static func indexed(_ object: ObjectReference, by key: [UInt8], _ index: UInt32) -> [UInt8] {
    var output = ByteOutput(capacity: key.count + 24)
    output.varint(index)
    output.append(key)
    output.object(object)
    return output.bytes
  }

  /// The least byte string after all that begin with `prefix`; nil if there is none.
  package static func successor(of prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 < 0xFF }) else { return nil }
    return Array(prefix[..<last]) + [prefix[last] + 1]
  }
}

/// Reads the entries of an index one after the other.
package struct IndexReader {
  private let properties: Int
  private let headLength: Int
  /// The entry read last up to the end of its first values; empty before the first.
  private var former: [UInt8] = []
  private var head = IndexKey.Head(end: 0)

  /// - Parameters:
  ///   - properties: How many properties the index has.
  ///   - headLength: How many of their values are the first ones.
  package init(properties: Int, headLength: Int) {
    self.properties = properties
    self.headLength = min(headLength, properties)
  }

  /// The object in an entry, and what is known of the first values.
  package mutating func read(_ entry: [UInt8]) throws(RowDamage) -> (object: ObjectReference, head: IndexKey.Head) {
    // The same bytes are the same values.
    head.isRepeated = !former.isEmpty && entry.begins(with: former)
    if !head.isRepeated {
      var input = ByteInput(entry)
      _ = try input.number()
      head = try input.indexKey(headLength)
      former.removeAll(keepingCapacity: true)
      former.append(contentsOf: entry[..<head.end])
    }
    var input = ByteInput(entry, head.end..<entry.count)
    if head.isWhole { _ = try input.indexKey(properties - headLength) }
    let object = try input.object()
    try input.requireEnd()
    return (object, head)
  }
}

extension [UInt8] {
  /// As `starts(with:)`, which takes several times as long.
  fileprivate func begins(with other: [UInt8]) -> Bool {
    guard other.count <= count else { return false }
    for place in other.indices where self[place] != other[place] { return false }
    return true
  }
}

extension ByteOutput {
  /// Writes the entry of a member of a to-many relationship.
  package mutating func member(
    _ member: ObjectReference, of owner: RowReference, _ relationship: UInt32, position: Int64? = nil
  ) {
    varint(UInt64(relationship))
    reference(owner)
    if let position { self.position(position) }
    object(member)
  }

  fileprivate mutating func position(_ position: Int64) {
    let bits = UInt64(bitPattern: position) ^ 1 << 63
    for place in (0..<8).reversed() { byte(UInt8(truncatingIfNeeded: bits >> UInt64(8 * place))) }
  }
}

extension ByteInput {
  package mutating func position() throws(RowDamage) -> Int64 {
    var bits: UInt64 = 0
    for place in try range(of: 8) { bits = bits << 8 | UInt64(bytes[place]) }
    return Int64(bitPattern: bits ^ 1 << 63)
  }
}
