/// Sorts rows by the keys of their records: by eight bytes of each key, and rows that are equal in these by the next
/// eight bytes in which they differ.
struct KeyOrder {
  let table: SegmentTable
  /// At least as large as the buffers that are sorted.
  let spare: RowBuffer

  private static let lookahead = 10

  /// Sorts rows whose keys are alike in their first `headStart` bytes, and whose heads are the next eight bytes.
  func sort(_ rows: RowBuffer, _ range: Range<Int>, headStart: Int) {
    rows.sortByHead(range, with: spare)
    var start = range.lowerBound
    while start < range.upperBound {
      var end = start + 1
      while end < range.upperBound, rows[end].head == rows[start].head { end += 1 }
      if end - start > 1 { sortAlike(rows, start..<end, from: headStart) }
      start = end
    }
  }

  func readHeads(_ rows: RowBuffer, _ range: Range<Int>, from start: Int) {
    for position in range {
      if position + Self.lookahead < range.upperBound { table.prefetch(rows[position + Self.lookahead].address) }
      rows[position].head = unsafe table.key(rows[position].address).head(start)
    }
  }

  private func sortAlike(_ rows: RowBuffer, _ range: Range<Int>, from start: Int) {
    // The head of a short key is padded with zeros, so keys with equal heads may differ in length alone.
    let first = unsafe table.key(rows[range.lowerBound].address)
    var shared = first.count
    var shortest = first.count
    for position in range.dropFirst() {
      if position + Self.lookahead < range.upperBound { table.prefetch(rows[position + Self.lookahead].address) }
      let key = unsafe table.key(rows[position].address)
      shared = unsafe min(shared, first.sharedPrefix(key))
      shortest = min(shortest, key.count)
    }
    if range.count <= 32 || shared < start + 8 || shared == shortest {
      var keyed: [(key: [UInt8], row: RowBuffer.Row)] = []
      for position in range { keyed.append(unsafe (Array(table.key(rows[position].address)), rows[position])) }
      keyed.sort { $0.key.lexicographicallyPrecedes($1.key) }
      for (position, pair) in zip(range, keyed) { rows[position] = pair.row }
      return
    }
    readHeads(rows, range, from: shared)
    sort(rows, range, headStart: shared)
  }
}
