import Foundation

/// What a save changes in the members of one ordered relationship of one owner.
final class OrderedChange {
  /// All members in their order, if the order was changed.
  var order: [ObjectReference]?
  /// The order of those that are new, if the owner knows it.
  var lastOrder: [ObjectReference] = []
  private var joining: [ObjectReference] = []
  private var joined: Set<ObjectReference> = []
  private var leaving: Set<ObjectReference> = []

  /// Whether one of those that join may be a member already.
  private var mayBeMembers = false

  func join(_ member: ObjectReference, isNew: Bool) {
    guard joined.insert(member).inserted else { return }
    joining.append(member)
    mayBeMembers = mayBeMembers || !isNew
  }

  func leave(_ member: ObjectReference) { leaving.insert(member) }

  /// Members that are new for certain, at the end, only take reading the last entry; anything else reads all entries of the owner.
  func collect(
    _ owner: RowReference, _ relationship: UInt32, _ snapshot: any RowSnapshot, into entries: inout EntryChanges
  ) throws {
    guard order != nil || !joining.isEmpty || !leaving.isEmpty else { return }
    let end = ToManyEnd(number: relationship, isOrdered: true)
    if order == nil, leaving.isEmpty, !mayBeMembers, let last = try last(of: owner, relationship, snapshot),
      last < .max - Int64(joining.count + 1) * Entry.gap
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
  private func last(of owner: RowReference, _ relationship: UInt32, _ snapshot: any RowSnapshot) throws -> Int64? {
    var last: Int64 = 0
    let prefix = Entry.members(of: owner, relationship)
    try snapshot.forEachEntry(beginningWith: prefix, reverse: true) { entry in
      last = try StoreFailure.reading("An entry of the relationship \(relationship)") {
        try Entry.member(in: entry, behind: prefix.count, isOrdered: true).position
      }
      return false
    }
    return last
  }

  /// New members as the owner has them, then those it does not know of.
  private func inOrder(_ new: [ObjectReference]) -> [ObjectReference] {
    let rank = Dictionary(lastOrder.enumerated().map { ($1, $0) }) { first, _ in first }
    return new.enumerated()
      .sorted { (rank[$0.element] ?? .max, $0.offset) < (rank[$1.element] ?? .max, $1.offset) }.map(\.element)
  }

  /// The members in the order that they are to have. Who is one is not for the owner's order to say.
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

/// Positions of the members of an ordered relationship.
enum Positions {
  /// Rising positions for members that have one already, in whatever order, or none. As many as possible keep theirs; if there is no room for the others, all get new ones.
  static func assign(_ old: [Int64?]) -> [Int64] {
    var new = [Int64?](repeating: nil, count: old.count)
    for place in longestRise(old) { new[place] = old[place] }
    var start = 0
    while start < new.count {
      guard new[start] == nil else {
        start += 1
        continue
      }
      var end = start
      while end < new.count, new[end] == nil { end += 1 }
      guard fill(&new, start..<end) else { return renumbered(old.count) }
      start = end
    }
    return new.compactMap { $0 }
  }

  private static func renumbered(_ count: Int) -> [Int64] { (0..<count).map { Int64($0 + 1) * Entry.gap } }

  /// Positions between those on both sides; whether there is room.
  private static func fill(_ positions: inout [Int64?], _ range: Range<Int>) -> Bool {
    let before = range.lowerBound > 0 ? positions[range.lowerBound - 1] ?? 0 : 0
    guard range.upperBound < positions.count, let after = positions[range.upperBound] else {
      let (last, overflows) = before.addingReportingOverflow(Int64(range.count) * Entry.gap)
      guard !overflows, last < .max else { return false }
      for (offset, place) in range.enumerated() { positions[place] = before + Int64(offset + 1) * Entry.gap }
      return true
    }
    // Before the first there is as much room as between any two.
    let low =
      range.lowerBound > 0
      ? before : after.subtractingReportingOverflow(Int64(range.count + 1) * Entry.gap).partialValue
    guard low < after else { return false }
    let (room, overflows) = after.subtractingReportingOverflow(low)
    let step = room / Int64(range.count + 1)
    guard !overflows, step > 0 else { return false }
    for (offset, place) in range.enumerated() { positions[place] = low + Int64(offset + 1) * step }
    return true
  }

  /// Places of as many positions as possible that rise. O(n log n): patience sorting.
  private static func longestRise(_ old: [Int64?]) -> [Int] {
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: old.count)
    for (place, position) in old.enumerated() {
      guard let position else { continue }
      var range = 0..<ends.count
      while !range.isEmpty {
        let middle = (range.lowerBound + range.upperBound) / 2
        let isBelow = (old[ends[middle]] ?? 0) < position
        range = isBelow ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      if range.lowerBound > 0 { previous[place] = ends[range.lowerBound - 1] }
      if range.lowerBound == ends.count { ends.append(place) } else { ends[range.lowerBound] = place }
    }
    var rise: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
      rise.append(place)
      place = previous[place]
    }
    return rise.reversed()
  }
}
