import Foundation

/// The changes of a save to the members of one ordered relationship of one owner.
final class OrderedChange {
  /// All members in their new order, if the order was changed.
  var order: [ObjectReference]?
  /// The order of the new members, if the owner knows it.
  var lastOrder: [ObjectReference] = []
  private var joining: [ObjectReference] = []
  private var joined: Set<ObjectReference> = []
  private var leaving: Set<ObjectReference> = []

  /// Whether one of the joining objects may already be a member.
  private var mayBeMembers = false

  func join(_ member: ObjectReference, isNew: Bool) {
    guard joined.insert(member).inserted else { return }
    joining.append(member)
    mayBeMembers = mayBeMembers || !isNew
  }

  func leave(_ member: ObjectReference) { leaving.insert(member) }

  /// Adds the changes to `entries`. Adding members that are certainly new at the end reads only the last entry; any
  /// other change reads all entries of the owner.
  func collect(
    _ owner: RowReference, _ relationship: UInt32, _ snapshot: any RowSnapshot, into entries: inout EntryChanges
  ) throws {
    guard order != nil || !joining.isEmpty || !leaving.isEmpty else { return }
    let end = ToManyEnd(number: relationship, isOrdered: true)
    if order == nil, leaving.isEmpty, !mayBeMembers,
      case let last = try last(of: owner, relationship, snapshot), last < .max - Int64(joining.count + 1) * Entry.gap
    {
      for (offset, member) in inOrder(joining).enumerated() {
        entries.add(
          Entry.member(member, of: owner, relationship, position: last + Int64(offset + 1) * Entry.gap))
      }
      return
    }
    var old: [(member: ObjectReference, position: Int64, entry: [UInt8])] = []
    try snapshot.forEachMember(of: owner, end) { old.append($0) }
    let positions = Dictionary(old.map { ($0.member, $0.position) }) { $1 }
    let wanted = wanted(old.map(\.member))
    let new = Positions.assign(wanted.map { positions[$0] })
    var kept: Set<[UInt8]> = []
    for (member, position) in zip(wanted, new) {
      let entry = Entry.member(member, of: owner, relationship, position: position)
      kept.insert(entry)
      if positions[member] != position { entries.add(entry) }
    }
    for member in old where !kept.contains(member.entry) { entries.remove(member.entry) }
  }

  /// The position of the last member; 0 if there is none.
  private func last(of owner: RowReference, _ relationship: UInt32, _ snapshot: any RowSnapshot) throws -> Int64 {
    var last: Int64 = 0
    let prefix = Entry.members(of: owner, relationship)
    try snapshot.forEachEntry(beginningWith: prefix, reverse: true) { entry in
      last = try StoreFailure.reading("An entry of the relationship \(relationship)") {
        try Entry.member(in: entry, after: prefix.count, isOrdered: true).position
      }
      return false
    }
    return last
  }

  /// New members in the owner's order, then those that the owner does not know of.
  private func inOrder(_ new: [ObjectReference]) -> [ObjectReference] {
    let rank = Dictionary(lastOrder.enumerated().map { ($1, $0) }) { first, _ in first }
    return new.enumerated()
      .sorted { (rank[$0.element] ?? .max, $0.offset) < (rank[$1.element] ?? .max, $1.offset) }.map(\.element)
  }

  /// The members in their new order. The owner's order does not decide which objects are members.
  private func wanted(_ old: [ObjectReference]) -> [ObjectReference] {
    let known = Set(old)
    let new = inOrder(joining.filter { !known.contains($0) })
    let members = old.filter { !leaving.contains($0) || joined.contains($0) } + new
    guard let order else { return members }
    let all = Set(members)
    let ordered = order.filter(all.contains)
    let mentioned = Set(ordered)
    return ordered + members.filter { !mentioned.contains($0) }
  }
}
