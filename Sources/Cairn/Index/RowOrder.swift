/// Compares the rows that a scan finds in one direction with their order, and with the rows of other scans.
struct RowOrder {
  private let isReversed: Bool
  private var last: [UInt8]?
  private(set) var isAscending = true
  /// Of all rows: their number, and the sum of their hashes.
  private(set) var count = 0
  private(set) var sum: UInt64 = 0

  init(reverse: Bool = false) { isReversed = reverse }

  mutating func take(_ record: RecordView, in keyspace: KeyspaceIndex) {
    count += 1
    sum &+= unsafe keyspace.hash(record.key).rawValue
  }

  /// The same for a row that must come after the one before.
  mutating func takeInOrder(_ record: RecordView, in keyspace: KeyspaceIndex) {
    take(record, in: keyspace)
    if let last {
      let order = unsafe last.withUnsafeBytes { unsafe record.key.order($0) }
      isAscending = isAscending && (isReversed ? order < 0 : order > 0)
    }
    last = unsafe Array(record.key)
  }

  func hasSameRows(as other: RowOrder) -> Bool { (count, sum) == (other.count, other.sum) }
}
