/// The indices of a longest ascending part of the elements.
///
/// - Complexity: O(n log n).
func longestAscent<Element: Comparable>(_ elements: [Element]) -> [Int] {
  // The last indices of the ascents of each length that end lowest, and the index before each element in its ascent.
  var ends: [Int] = []
  var before: [Int?] = []
  for (index, element) in elements.enumerated() {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[ends[middle]] < element { low = middle + 1 } else { high = middle }
    }
    before.append(low > 0 ? ends[low - 1] : nil)
    if low < ends.count { ends[low] = index } else { ends.append(index) }
  }
  var ascent: [Int] = []
  var last = ends.last
  while let index = last {
    ascent.append(index)
    last = before[index]
  }
  return ascent.reversed()
}
