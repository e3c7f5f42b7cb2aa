#if PostgreSQL
  /// An entry, or a bound of entries, in the two parts in which the table has it. The parts compare as the whole does.
  struct SplitEntry {
    let head: [UInt8]
    let tail: [UInt8]

    init(_ entry: [UInt8]) {
      head = Array(entry.prefix(Tables.headLength))
      tail = Array(entry.dropFirst(Tables.headLength))
    }
  }
#endif
