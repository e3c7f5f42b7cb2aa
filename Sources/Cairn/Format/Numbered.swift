/// An element that is found by its number in a list whose numbers rise.
package protocol Numbered {
  associatedtype ID: Comparable
  var id: ID { get }
}

extension RandomAccessCollection where Element: Numbered {
  /// The position of the element with a number, in a list whose numbers rise.
  func index(of id: Element.ID) -> Self.Index? {
    let index = partitioningIndex { $0.id >= id }
    return index < endIndex && self[index].id == id ? index : nil
  }

  /// The element with a number, in a list whose numbers rise.
  func element(_ id: Element.ID) -> Element? { index(of: id).map { self[$0] } }
}

extension RandomAccessCollection {
  /// The position of the first element for which `isBehind` is true, if it is false for all elements before that and
  /// true for all after it. Takes logarithmic time.
  func partitioningIndex(where isBehind: (Element) -> Bool) -> Self.Index {
    var (low, length) = (startIndex, count)
    while length > 0 {
      let middle = index(low, offsetBy: length / 2)
      if isBehind(self[middle]) {
        length /= 2
      } else {
        low = index(after: middle)
        length -= length / 2 + 1
      }
    }
    return low
  }
}
