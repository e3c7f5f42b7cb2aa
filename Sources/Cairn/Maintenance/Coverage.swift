/// The log addresses that a checkpoint may have: those before the ends that its segments had.
struct Coverage {
  private let table: SegmentTable
  /// For each extent, the bytes from its beginning to the end of its records.
  private let ends: [Int]

  init(_ tables: CheckpointTables, _ table: SegmentTable) {
    self.table = table
    var ends = [Int](repeating: 0, count: tables.slotCount)
    for segment in tables.segments {
      var left = segment.end
      var slot = segment.slot
      while left > 0, slot < ends.count {
        ends[slot] = left
        left -= 8 << table.slotShift
        slot += 1
      }
    }
    self.ends = ends
  }

  @inline(__always)
  func contains(_ address: LogAddress) -> Bool {
    let slot = table.slot(address)
    return slot < ends.count && table.offset(address) < ends[slot]
  }
}
