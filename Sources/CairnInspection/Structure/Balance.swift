import RowFormat

/// Compares two sets whose elements arrive one by one and in any order. Compares sums of hashes, so that neither set
/// has to be in memory.
struct Balance {
  private var left: UInt64 = 0
  private var right: UInt64 = 0

  var isEven: Bool { left == right }

  mutating func addLeft(_ pair: some Hashable) { left &+= Self.hash(pair) }
  mutating func addRight(_ pair: some Hashable) { right &+= Self.hash(pair) }

  private static func hash(_ pair: some Hashable) -> UInt64 { UInt64(truncatingIfNeeded: pair.hashValue) }
}

/// A member of a to-many relationship and its owner.
struct Membership: Hashable {
  let owner: ObjectReference
  let member: ObjectReference

  var reversed: Membership { Membership(owner: member, member: owner) }
}
