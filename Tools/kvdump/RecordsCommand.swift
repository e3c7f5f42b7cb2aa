import ArgumentParser
import Cairn
import CairnInspection

struct RecordsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "records",
    abstract: "Prints the raw log: every record, including superseded records, and damage.",
    discussion: """
      Prints the segments, their frames, and the records of the frames, each with its offset in the segment's file. \
      Invalid parts are reported in their place; records in them whose own checksum is right are printed too, marked \
      as loose. A value of 40 bytes that is compressed to 21 bytes is printed as 21/40, followed by d if decompressing \
      it requires a dictionary. Exit status 1 if there is damage.

      \(Since.help) Records that compaction has moved, and records of damaged frames, have no time; they are then left \
      out, and counted on standard error.

      Examples: kvdump records orders.cairn --segment 3
                kvdump records orders.cairn --since 1h
                kvdump records orders.cairn --keyspace customers --key 42
                kvdump records orders.cairn --format jsonl | grep '"kind":"tombstone"'
      """)

  @OptionGroup var common: CommonArguments

  @Option(
    help: ArgumentHelp("Print only this segment.", valueName: "number"),
    transform: { SegmentID(try UInt32.parse($0)) })
  var segment: SegmentID?

  @Option(help: ArgumentHelp("Print only records of this keyspace, or of objects of this entity.", valueName: "name"))
  var keyspace: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Print only records of this row.", valueName: "key"),
    transform: Key.parse)
  var key: Key?

  @Option(
    help: ArgumentHelp(
      "Print only records of commits from this commit, duration before now, or date on.", valueName: "when"),
    transform: Since.parse)
  var since: Since?

  @Option(
    help: ArgumentHelp("Print at most this many records; all records if omitted.", valueName: "number"),
    transform: Int.parse)
  var limit: Int?

  private func isOfRow(_ record: LogRecord, _ keyspace: String?) -> Bool {
    if let keyspace, record.keyspaceName != keyspace { return false }
    if let key, record.key != .row(key) { return false }
    return true
  }

  private func isWanted(_ frame: LogContents.FrameStart) -> Bool {
    guard keyspace == nil, key == nil else { return false }
    guard let since else { return true }
    return !frame.isCompacted && since.includes(sequence: frame.header.sequence, time: frame.header.time) == true
  }

  func write(to output: inout Output) throws {
    let log = try LogContents(at: common.store)
    let names = Watched.names(common.store)
    let keyspace = ObjectNames.keyspace(named: keyspace, names)
    if let segment, !log.segments.contains(segment) {
      throw StoreError.noSegment(segment, log.segments)
    }
    Interruption.watch()
    output.statusIfClosed = .closed
    var listing = Listing("records", items: "records", common.format)
    try listing.begin(["store": .string(common.store)], to: &output)
    if let problem = log.manifestProblem { complain(problem) }
    var (count, isSound, withoutTime) = (0, true, 0)
    func noteDamage() {
      isSound = false
      output.statusIfClosed = .finding
    }
    if log.manifestProblem != nil { noteDamage() }
    try log.forEach(in: segment) { item in
      switch item {
      case .segment(let start):
        if start.isDamaged { noteDamage() }
        if listing.isText { try output.line(text(start)) }
      case .frame(let frame):
        if listing.isText, isWanted(frame) { try output.line(text(frame)) }
      case .record(let record, _):
        guard isOfRow(record, keyspace) else { return .next }
        if let since {
          guard let isIncluded = since.includes(sequence: record.sequence, time: record.time) else {
            withoutTime += 1
            return .next
          }
          guard isIncluded else { return .next }
        }
        guard count < limit ?? .max else { return .stop }
        count += 1
        if listing.isText {
          try output.line(text(record, names))
        } else {
          let meaning = names?.role(of: record).flatMap { names?.json($0) }
          try listing.item(.object(members(record), "meaning", meaning), to: &output)
        }
      case .invalid(let invalid):
        if !invalid.isTornTail { noteDamage() }
        if listing.isText {
          for line in text(invalid) { try output.line(line) }
        } else {
          try listing.item(members(invalid), to: &output)
        }
      case .missing(let id):
        noteDamage()
        if listing.isText {
          try output.line(Terminal.styled("segment \(id): missing", .red))
        } else {
          try listing.item(["missing": .number(id)], to: &output)
        }
      }
      return Interruption.isRequested ? .stop : .next
    }
    Interruption.endIfRequested()
    if isSound { output.statusIfClosed = .success }
    try listing.end(
      ["count": .number(count), "withoutTime": .number(withoutTime), "isSound": .bool(isSound)], to: &output)
    if withoutTime > 0 {
      complain(
        "left out \(withoutTime.of("record")) without a time: compaction has moved them, or their frames are damaged")
    }
    guard isSound else { throw ExitCode.finding }
  }

  // MARK: Text

  private func text(_ start: LogContents.SegmentStart) -> String {
    let what =
      if let header = start.header {
        "\(header.kind == .compacted ? "written by compaction" : start.isSealed ? "sealed" : "open"), epoch \(header.epoch), "
          + "base sequence \(header.baseSequence), created \(Timestamp(nanoseconds: header.created))"
      } else if start.isEmpty {
        "unused"
      } else {
        start.isReadable ? "the header is damaged" : "the header is damaged, and its frames cannot be read"
      }
    return Terminal.styled("segment \(start.id): \(what)", .bold)
  }

  private func text(_ frame: LogContents.FrameStart) -> String {
    let what =
      frame.isCompacted
      ? "frame \(frame.header.sequence)"
      : "commit \(frame.header.sequence), \(Timestamp(nanoseconds: frame.header.time))"
    return "\(column(frame.place.offset))  \(what), \(frame.header.length.grouped) bytes"
  }

  private func text(_ record: LogRecord, _ names: ObjectNames?) -> String {
    var cells = [record.kind?.name ?? "unknown kind"]
    if let names, let role = names.role(of: record) {
      cells.append(names.text(role))
    } else {
      cells.append(record.keyspaceName.map { ObjectNames.title(of: $0, names) } ?? "keyspace \(record.keyspace)")
      switch record.key {
      case .row(let reference): cells.append(reference.literal)
      case .name: break
      case .dictionary(let id): cells.append("\(id)")
      case .none: break
      case .malformed(let bytes): cells.append("malformed \(Key.bytes(bytes).literal)")
      }
    }
    if record.kind == .put || record.kind == .tombstone { cells.append("version \(record.version.grouped)") }
    cells.append("sequence \(record.sequence)")
    let stored = (record.isCompressed ? "\(record.storedBytes.grouped)/" : "") + record.valueBytes.of("byte")
    if record.kind != .tombstone { cells.append("\(stored)\(record.dictionary > 0 ? " d" : "")") }
    if record.frame == nil { cells.append(Terminal.styled("loose", .yellow)) }
    return "\(column(record.place.offset))    \(cells.joined(separator: "  "))"
  }

  private func text(_ invalid: LogContents.Invalid) -> [String] {
    let length = invalid.range.count.of("byte")
    guard !invalid.isTornTail else {
      return ["\(column(invalid.range.lowerBound))  " + Terminal.styled("torn tail of \(length)", .yellow)]
    }
    return ["\(column(invalid.range.lowerBound))  " + Terminal.styled("\(length): not a valid frame", .red)]
      + invalid.words.map { "              \($0)" }
  }

  private func column(_ offset: Int) -> String {
    let text = String(offset)
    return String(repeating: " ", count: max(0, 12 - text.count)) + text
  }

  // MARK: JSON

  private func members(_ record: LogRecord) -> KeyValuePairs<String, JSON> {
    [
      "segment": .number(record.place.segment), "offset": .number(record.place.offset),
      "frame": record.frame.map { .number($0) } ?? .null, "kind": .string(record.kind?.name ?? "unknown"),
      "keyspace": .number(record.keyspace),
      "keyspaceName": record.keyspaceName.map { .string($0) } ?? .null,
      "key": record.key.json, "sequence": .number(record.sequence), "version": .number(record.version),
      "length": .number(record.length), "storedBytes": .number(record.storedBytes),
      "valueBytes": .number(record.valueBytes), "isCompressed": .bool(record.isCompressed),
      "dictionary": .number(record.dictionary),
      "time": record.time.map { .string("\(Timestamp(nanoseconds: $0))") } ?? .null,
    ]
  }

  private func members(_ invalid: LogContents.Invalid) -> KeyValuePairs<String, JSON> {
    [
      "invalid": .string(invalid.isTornTail ? "torn tail" : "damage"), "segment": .number(invalid.segment),
      "offset": .number(invalid.range.lowerBound), "length": .number(invalid.range.count),
      "words": .array(invalid.words.map { .string($0) }),
    ]
  }
}

extension LogKey {
  var json: JSON {
    switch self {
    case .row(let key): .key(key)
    case .name(let name): .object(["name": .string(name)])
    case .dictionary(let id): .object(["dictionary": .number(id)])
    case .none: .null
    case .malformed(let bytes): .object(["malformed": .bytes(bytes)])
    }
  }
}
