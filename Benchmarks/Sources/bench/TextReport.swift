import Foundation

/// The report for people: a table, the space that the engines take, and the ratios.
struct TextReport {
  let summary: Summary

  var text: String {
    var parts = [figures, notes, footprints]
    if let ratios { parts.append(ratios) }
    return parts.joined(separator: "\n\n")
  }

  private var figures: String {
    var table = Table([
      ("workload", .left), ("engine", .left), ("rows", .right), ("threads", .right), ("durability", .left),
      ("median", .right), ("unit", .left), ("min–max", .right), ("Cairn/engine", .right), ("min–max", .right),
      ("writes k/s", .right), ("bytes read", .right), ("checksum", .left),
    ])
    var last: Workload?
    for line in summary.lines {
      if line.workload != last { table.separate() }
      last = line.workload
      let isCompared = line.workload.comparesChecksums
      table.add([
        line.workload.name, line.engine.name, String(line.rows), line.workload.threadsLabel, line.workload.durability,
        number(line.figure.median), line.workload.unit.rawValue,
        "\(number(line.figure.minimum))–\(number(line.figure.maximum))",
        ratio(line.ratio?.median), range(line.ratio), line.besideWrites.map { number($0.median) } ?? "-",
        line.reading.map { String($0.bytes) } ?? "-",
        isCompared ? line.reading.map { String($0.checksum, radix: 16) } ?? "-" : "varies",
      ])
    }
    return table.text
  }

  private var notes: String {
    """
    buffered: a commit waits for no disk. After a crash of the machine Cairn, RocksDB and LevelDB lose a tail of
    commits, SQLite as a rule too; LMDB, which here runs with NOSYNC, may lose the whole file.
    synced: every single commit is on the disk before the next; fillsync writes a small store of its own, and the
    bytes read are those read back afterwards.
    readrandom, readmissing, readseq, seekrandom: nobody writes. LMDB and SQLite use one read transaction for all
    lookups, RocksDB and LevelDB one iterator for all seeks; Cairn's lookups each see the latest state.
    readwhilewriting: each lookup sees the latest state; LMDB renews its read transaction for each.
    seekrandom: one operation is a seek and 11 rows. open: open and one lookup, without the close before it.
    Before the first reads of a round each engine reads all its rows once, untimed.
    Bytes read and checksum are the first round's.
    """
  }

  private var footprints: String {
    var table = Table([
      ("on disk and in memory", .left), ("MB after fill", .right), ("MB at end", .right),
      ("memory grown MB", .right), ("bytes a row on disk", .right),
    ])
    for engine in EngineKind.allCases {
      let own = summary.outcome.footprints.filter { $0.engine == engine }
      guard let filled = Spread(own.map { Double($0.bytesAfterFill) }),
        let ended = Spread(own.map { Double($0.bytesAtEnd) })
      else { continue }
      let memory = own.first { $0.round == 0 }?.memoryGrowth
      table.add([
        engine.name, number(filled.median / 1e6), number(ended.median / 1e6),
        memory.map { number(Double($0) / 1e6) } ?? "-", number(filled.median / Double(summary.rows)),
      ])
    }
    return table.text + "\n" + """
      After fill: closed and opened again, background work done. At end: after the round's other workloads and a
      close, logs included.
      Memory: growth over the first round's fill of memory that belongs to no file; mapped files are not in it, and
      memory which an engine's allocator took over from another engine is missing from it.
      """
  }

  private var ratios: String? {
    let goals = Goal.all(summary).filter { $0.ratio != nil }
    guard !goals.isEmpty else { return nil }
    var table = Table([
      ("ratios", .left), ("Cairn against", .left), ("median", .right), ("min–max", .right), ("goal", .right),
    ])
    for goal in goals {
      table.add([goal.workload, goal.against, ratio(goal.ratio?.median), range(goal.ratio), ratio(goal.target)])
    }
    return table.text
  }

  /// Three significant digits, or all digits before the decimal point if there are more.
  private func number(_ value: Double) -> String {
    let size = abs(value)
    return String(format: size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : "%.2f", value)
  }

  private func ratio(_ value: Double?) -> String {
    value.map { String(format: "%.2f", $0) } ?? "-"
  }

  private func range(_ spread: Spread?) -> String {
    spread.map { "\(ratio($0.minimum))–\(ratio($0.maximum))" } ?? "-"
  }
}
