import ArgumentParser
import Cairn
import CairnInspection

struct StatsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Prints what takes space in a store, and how much other settings would save.",
    discussion: """
      For each keyspace: the lengths of keys and values, the key prefixes with the most writes, the size of the \
      compressed values, and the size of samples of the values with other settings. Then the size of the compressed \
      values of each segment, and how many bytes compaction would free. Reads every row and the whole log.

      Example: kvdump stats orders.cairn
      """)

  @OptionGroup var common: CommonArguments

  @Option(
    help: ArgumentHelp("Print this many key prefixes of each keyspace; 8 if omitted.", valueName: "number"),
    transform: Int.parse)
  var prefixes = 8

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let report = try Watched.working("counting") { try SpaceReport(of: store, progress: $0) }
    let (segments, _) = try Watched.working("reading the log") {
      try SegmentReport.all(at: common.store, progress: $0)
    }
    guard common.format == .text else { return try output.write(json(report, segments), common.format) }
    for keyspace in report.keyspaces {
      for line in text(keyspace, report.names) { try output.line(line) }
    }
    for line in compression(report) + [""] + compression(segments) + [""] + savings(report) { try output.line(line) }
  }

  // MARK: Text

  private func text(_ keyspace: SpaceReport.Keyspace, _ names: ObjectNames?) -> [String] {
    let title = "\(ObjectNames.title(of: keyspace.name, names)): \(keyspace.rows.of("row"))"
    var lines = [Terminal.styled(title, .bold)]
    guard keyspace.rows > 0 else { return lines + [""] }
    lines += ["  keys, bytes"] + bars(keyspace.keys) + ["  values, bytes"] + bars(keyspace.values)
    let hottest = keyspace.prefixes.hottest(prefixes)
    if !hottest.isEmpty {
      var table = Table(["prefix": .left, "writes in the log": .right, "rows": .right, "bytes": .right])
      for entry in hottest {
        table.append(escapedForTerminal(entry.prefix), entry.writes.grouped, entry.rows.grouped, entry.bytes.grouped)
      }
      lines += table.lines
      if keyspace.prefixes.isApproximate { lines.append("  (approximate: too many prefixes to count all of them)") }
    }
    return lines + [""]
  }

  private static let barLength = 40

  private func bars(_ histogram: SizeHistogram) -> [String] {
    let buckets = histogram.buckets
    let labels = buckets.map { bucket in
      bucket.sizes.count == 1
        ? bucket.sizes.lowerBound.grouped : "\(bucket.sizes.lowerBound.grouped) – \(bucket.sizes.upperBound.grouped)"
    }
    let counts = buckets.map(\.count.grouped)
    let widths = (labels.map(\.count).max() ?? 0, counts.map(\.count).max() ?? 0)
    let most = buckets.map(\.count).max() ?? 1
    return buckets.indices.map { index in
      let eighths = (buckets[index].count * Self.barLength * 8 + most - 1) / most
      let part = eighths % 8 == 0 ? "" : String(["▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8 - 1])
      let bar = String(repeating: "█", count: eighths / 8) + part
      let line = "    \(labels[index].padded(to: widths.0))  \(counts[index].padded(to: widths.1))"
      return bar.isEmpty ? line : "\(line)  \(bar)"
    }
  }

  private func compression(_ report: SpaceReport) -> [String] {
    var table = Table([
      "keyspace": .left, "values": .right, "stored": .right, "ratio": .right, "compressed": .right,
      "with a dictionary": .right,
    ])
    for keyspace in report.keyspaces where keyspace.rows > 0 {
      table.append(
        ObjectNames.title(of: keyspace.name, report.names), keyspace.values.sum.grouped, keyspace.storedBytes.grouped,
        percentage(keyspace.storedBytes, of: keyspace.values.sum),
        percentage(keyspace.compressedRows, of: keyspace.rows),
        percentage(keyspace.dictionaryRows, of: keyspace.rows))
    }
    return [Terminal.styled("compression by keyspace, bytes", .bold)] + table.lines
  }

  private func compression(_ segments: [SegmentReport]) -> [String] {
    var table = Table([
      "segment": .right, "values": .right, "stored": .right, "ratio": .right, "live": .right,
    ])
    for segment in segments where segment.records > 0 {
      table.append(
        "\(segment.id)", segment.valueBytes.grouped, segment.storedBytes.grouped,
        percentage(segment.storedBytes, of: segment.valueBytes),
        segment.liveBytes.map { percentage($0, of: segment.bytes) } ?? "?")
    }
    return [Terminal.styled("compression by segment, bytes", .bold)] + table.lines
  }

  private func savings(_ report: SpaceReport) -> [String] {
    var table = Table([
      "keyspace": .left, "as stored": .right, "LZ4 alone": .right, "with a new dictionary": .right,
      "compacted with it": .right,
    ])
    for keyspace in report.keyspaces where keyspace.trial.rawBytes > 0 {
      let trial = keyspace.trial
      table.append(
        ObjectNames.title(of: keyspace.name, report.names), percentage(keyspace.storedBytes, of: keyspace.values.sum),
        percentage(trial.plainBytes, of: trial.rawBytes),
        trial.dictionaryBytes.map { percentage($0, of: trial.rawBytes) } ?? "",
        percentage(trial.highBytes, of: trial.rawBytes))
    }
    let figures = report.statistics
    return [Terminal.styled("size of the values with other settings, estimated from samples", .bold)] + table.lines + [
      "",
      "compaction would free up to \(figures.deadBytes.grouped) of the log's \(figures.logBytes.grouped) bytes",
    ]
  }

  private func percentage(_ part: Int, of whole: Int) -> String { whole == 0 ? "" : "\(part * 100 / whole) %" }

  // MARK: JSON

  private func json(_ report: SpaceReport, _ segments: [SegmentReport]) -> JSON {
    .object([
      "schema": .string("kvdump.stats"), "schemaVersion": .number(2 as Int), "store": .string(common.store),
      "rows": .number(report.statistics.rows), "logBytes": .number(report.statistics.logBytes),
      "deadBytes": .number(report.statistics.deadBytes),
      "keyspaces": .array(report.keyspaces.map { json($0, report.names) }),
      "segments": .array(
        segments.map {
          .object([
            "id": .number($0.id), "valueBytes": .number($0.valueBytes), "storedBytes": .number($0.storedBytes),
            "bytes": .number($0.bytes), "liveBytes": $0.liveBytes.map { .number($0) } ?? .null,
          ])
        }),
    ])
  }

  private func json(_ keyspace: SpaceReport.Keyspace, _ names: ObjectNames?) -> JSON {
    .object(members(keyspace), "entity", names?.entityName(in: keyspace.name).map { .string($0) })
  }

  private func members(_ keyspace: SpaceReport.Keyspace) -> KeyValuePairs<String, JSON> {
    let trial = keyspace.trial
    return [
      "name": .string(keyspace.name), "rows": .number(keyspace.rows), "keyBytes": json(keyspace.keys),
      "valueBytes": json(keyspace.values), "storedBytes": .number(keyspace.storedBytes),
      "compressedRows": .number(keyspace.compressedRows), "dictionaryRows": .number(keyspace.dictionaryRows),
      "samples": .object([
        "bytes": .number(trial.rawBytes), "plainBytes": .number(trial.plainBytes),
        "dictionaryBytes": trial.dictionaryBytes.map { .number($0) } ?? .null,
        "compactedBytes": .number(trial.highBytes),
      ]),
      "prefixes": .array(
        keyspace.prefixes.hottest(prefixes).map {
          .object([
            "prefix": .string($0.prefix), "writes": .number($0.writes), "rows": .number($0.rows),
            "bytes": .number($0.bytes),
          ])
        }),
    ]
  }

  private func json(_ histogram: SizeHistogram) -> JSON {
    .object([
      "sum": .number(histogram.sum), "largest": .number(histogram.largest),
      "histogram": .array(
        histogram.buckets.map {
          .object([
            "from": .number($0.sizes.lowerBound), "to": .number($0.sizes.upperBound), "count": .number($0.count),
          ])
        }),
    ])
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
