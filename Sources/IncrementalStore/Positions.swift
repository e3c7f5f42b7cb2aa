import RowFormat

/// Positions of the members of an ordered relationship.
enum Positions {
  /// Ascending positions for members. Each member already has a position, in any order, or nil for none. As many
  /// members as possible keep their positions; if there is no room for the others, all members get new positions.
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

  /// Assigns positions between those on both sides of the range. Returns false if there is no room.
  private static func fill(_ positions: inout [Int64?], _ range: Range<Int>) -> Bool {
    let before = range.lowerBound > 0 ? positions[range.lowerBound - 1] ?? 0 : 0
    guard range.upperBound < positions.count, let after = positions[range.upperBound] else {
      let (last, overflows) = before.addingReportingOverflow(Int64(range.count) * Entry.gap)
      guard !overflows, last < .max else { return false }
      for (offset, place) in range.enumerated() { positions[place] = before + Int64(offset + 1) * Entry.gap }
      return true
    }
    // Before the first member there is room for the usual gaps.
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

  /// The places of a longest ascending subsequence of the positions. O(n log n): patience sorting.
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
