/// The elements that only one of two large sets has.
///
/// Reads both sets twice: the first time it sums the hashes of the elements of each partition, the second time it keeps
/// the elements of the partitions whose sums differ. So the memory that it takes is in proportion to the number of
/// differences, and to the part of the sets that is in one partition.
struct Differences<Element: Hashable> {
  /// Calls its argument with all elements of a set. Gives the same elements each time.
  typealias Elements = ((Element) -> Void) throws -> Void

  private(set) var onlyLeft: Set<Element> = []
  private(set) var onlyRight: Set<Element> = []

  private static var partitions: Int { 1 << 14 }

  /// - Throws: What `left` and `right` throw.
  init(_ left: Elements, _ right: Elements) throws {
    var balances = [Balance](repeating: Balance(), count: Self.partitions)
    try left { balances[Self.partition($0)].addLeft($0) }
    try right { balances[Self.partition($0)].addRight($0) }
    let isUneven = { (element: Element) in !balances[Self.partition(element)].isEven }
    try left { if isUneven($0) { onlyLeft.insert($0) } }
    try right { if isUneven($0) { onlyRight.insert($0) } }
    let both = onlyLeft.intersection(onlyRight)
    onlyLeft.subtract(both)
    onlyRight.subtract(both)
  }

  private static func partition(_ element: Element) -> Int {
    Int(truncatingIfNeeded: UInt(bitPattern: element.hashValue) % UInt(partitions))
  }
}
