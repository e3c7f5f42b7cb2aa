/// The log addresses that a checkpoint may have: those before the ends that its segments had.
struct Coverage {
  private let table: SegmentTable
  /// For each extent, the bytes from its beginning to the end of its records.
  private let ends: [Int]

  init(_ tables: CheckpointTables, _ table: SegmentTable) {
    self.table = table
    var ends = [Int](repeating: 0, count: tables.extentCount)
    for segment in tables.segments {
      var left = segment.end
      var extent = segment.extent
      while left > 0, extent < ends.count {
        ends[extent] = left
        left -= 8 << table.extentShift
        extent += 1
      }
    }
    self.ends = ends
  }

  @inline(__always)
  func contains(_ address: LogAddress) -> Bool {
    let extent = table.extent(address)
    return extent < ends.count && table.offset(address) < ends[extent]
  }
}
