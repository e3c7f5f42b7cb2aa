import ArgumentParser
import Cairn
import CairnInspection

struct SegmentsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "segments",
    abstract: "Lists the segments of a store, with their contents and any damage.",
    discussion: """
      Reads the whole log, also of a store that does not open; the live bytes are then unknown. Sequences are the \
      sequences of the commits whose records a segment has; ratio is the size of the values as they are stored, in \
      percent of their size before compression. For a \
      Core Data store, also prints the records of each entity in each segment. Exit status 1 if there is damage.

      Example: kvdump segments orders.cairn
      """)

  @OptionGroup var common: CommonArguments

  func write(to output: inout Output) throws {
    let (segments, obstacle) = try Watched.working("reading the log") {
      try SegmentReport.all(at: common.store, progress: $0)
    }
    let isSound = obstacle == nil && segments.allSatisfy { !$0.isDamaged }
    if !isSound { output.statusIfClosed = .finding }
    let objects = Objects(at: common.store)
    var listing = Listing("segments", items: "segments", common.format)
    try listing.begin(["store": .string(common.store)], to: &output)
    if listing.isText {
      for line in table(segments).lines { try output.line(line) }
      if let objects { for line in [""] + table(segments, objects).lines { try output.line(line) } }
    } else {
      for segment in segments {
        try listing.item(.object(members(segment), "rows", objects.map { json(segment, $0) }), to: &output)
      }
    }
    try listing.end(["count": .number(segments.count), "opens": .bool(obstacle == nil)], to: &output)
    if let obstacle { complain("the store does not open: \(obstacle)") }
    guard isSound else { throw ExitCode.finding }
  }

  private func table(_ segments: [SegmentReport]) -> Table {
    var table = Table([
      "id": .right, "segment": .left, "epoch": .right, "bytes": .right, "live": .right, "frames": .right,
      "records": .right, "tombstones": .right, "ratio": .right, "sequences": .left, "state": .left,
    ])
    for segment in segments {
      table.append(
        "\(segment.id)", segment.kind.rawValue, "\(segment.epoch)", segment.bytes.grouped,
        segment.liveBytes.map { segment.bytes > 0 ? "\($0 * 100 / segment.bytes) %" : "" } ?? "?",
        segment.frames.grouped, segment.records.grouped, segment.tombstones.grouped,
        segment.valueBytes > 0 ? "\(segment.storedBytes * 100 / segment.valueBytes) %" : "",
        segment.sequences.map { "\($0.lowerBound) … \($0.upperBound)" } ?? "", segment.state.words)
    }
    return table
  }

  /// The keyspaces of a Core Data store.
  private struct Objects {
    let names: ObjectNames
    let keyspaces: [Keyspace]

    init?(at path: String) {
      guard let store = try? Watched.store(path) else { return nil }
      defer { try? store.close() }
      guard let names = ObjectNames.read(from: store) else { return nil }
      (self.names, keyspaces) = (names, store.keyspaces)
    }
  }

  private func table(_ segments: [SegmentReport], _ objects: Objects) -> Table {
    var table = Table([
      "segment": .right, "records of": .left, "records": .right, "tombstones": .right, "bytes": .right,
    ])
    for segment in segments {
      for keyspace in objects.keyspaces {
        guard let rows = segment.rows[keyspace.id] else { continue }
        table.append(
          "\(segment.id)", ObjectNames.title(of: keyspace.name, objects.names), rows.records.grouped,
          rows.tombstones.grouped, rows.bytes.grouped)
      }
    }
    return table
  }

  private func json(_ segment: SegmentReport, _ objects: Objects) -> JSON {
    .array(
      objects.keyspaces.compactMap { keyspace in
        segment.rows[keyspace.id].map { rows in
          .object([
            "keyspace": .string(keyspace.name),
            "entity": objects.names.entityName(in: keyspace.name).map { .string($0) } ?? .null,
            "records": .number(rows.records), "tombstones": .number(rows.tombstones), "bytes": .number(rows.bytes),
          ])
        }
      })
  }

  private func members(_ segment: SegmentReport) -> KeyValuePairs<String, JSON> {
    [
      "id": .number(segment.id), "kind": .string(segment.kind.rawValue),
      "epoch": .number(UInt64(segment.epoch)),
      "bytes": .number(segment.bytes), "fileBytes": .number(segment.fileBytes),
      "liveBytes": segment.liveBytes.map { .number($0) } ?? .null, "frames": .number(segment.frames),
      "records": .number(segment.records), "tombstones": .number(segment.tombstones),
      "firstSequence": segment.sequences.map { .number($0.lowerBound) } ?? .null,
      "lastSequence": segment.sequences.map { .number($0.upperBound) } ?? .null,
      "valueBytes": .number(segment.valueBytes), "storedBytes": .number(segment.storedBytes),
      "isSound": .bool(!segment.isDamaged), "state": .string(segment.state.words),
    ]
  }
}

extension SegmentReport {
  fileprivate var isDamaged: Bool {
    switch state {
    case .sound, .tornTail: false
    case .damaged, .missing, .unreadable: true
    }
  }
}

extension SegmentReport.State {
  fileprivate var words: String {
    switch self {
    case .sound: "sound"
    case .tornTail(let bytes): "torn tail of \(bytes.of("byte"))"
    case .damaged(let places): "damaged in \(places.of("place"))"
    case .missing: "missing"
    case .unreadable: "unreadable: neither the manifest nor the header says where the segment belongs"
    }
  }
}
