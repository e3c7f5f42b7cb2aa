import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

struct InfoCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Prints what a store contains: keyspaces, segments, bytes.",
    discussion: """
      For a Core Data store, also prints each entity, the number of its objects without those of its subentities, and \
      their keyspace. For a store that does not open, prints the contents of its manifest; the exit status is then 2.

      \(SequenceHelp.text)

      Example: kvdump info orders.cairn --format json
      """)

  @OptionGroup var common: CommonArguments

  func write(to output: inout Output) throws {
    let info: StoreInfo
    do {
      info = try Watched.opening { try StoreInfo(at: common.store, progress: $0) }
    } catch let error as StoreError {
      if error.code == .corrupted || error.code == .damaged { try writeRemains(error, to: &output) }
      throw error
    }
    switch common.format {
    case .text: for line in text(info) { try output.line(line) }
    case .json, .jsonl: try output.write(json(info), common.format)
    }
  }

  private func text(_ info: StoreInfo) -> [String] {
    let figures = info.statistics
    let percentage = figures.logBytes == 0 ? 0 : figures.liveBytes * 100 / figures.logBytes
    var lines = [
      "store       \(escapedForTerminal(info.path))",
      "uuid        \(info.uuid)",
      "format      \(info.formatVersion)",
      "generation  \(info.generation.grouped)",
      "epoch       \(info.epoch)",
      "sequence    \(info.recovery.lastSequence), known to be durable up to \(info.recovery.watermark)",
      "rows        \(figures.rows.grouped)",
      "log         \(figures.logBytes.grouped) bytes, \(percentage) % of them live",
      "live        \(figures.liveBytes.grouped) bytes",
      "dead        \(figures.deadBytes.grouped) bytes",
      "segments    at most \(info.segmentBytes.grouped) bytes each",
    ]
    if info.isBackup { lines.insert("backup      can only be read; kvdump restore makes a store of it", at: 1) }
    if let newest = info.checkpoints.last {
      lines.append(
        "checkpoint  at sequence \(newest); \(info.checkpoints.count.of("checkpoint")), "
          + "\(figures.checkpointBytes.grouped) bytes in total")
    }
    if let place = info.recovery.discardedAt {
      lines.append("torn tail   \(info.recovery.discardedBytes.of("byte")) at \(place)")
    }

    if let names = info.names { lines += text(info, names) }

    let keepsMore = info.keyspaces.contains { $0.retention != .newest }
    var keyspaces = Table(
      keepsMore
        ? ["id": .right, "keyspace": .left, "order": .left, "rows": .right, "versions": .right]
        : ["id": .right, "keyspace": .left, "order": .left, "rows": .right])
    for keyspace in info.keyspaces {
      let cells = [
        "\(keyspace.id)", escapedForTerminal(keyspace.name), "\(keyspace.order)", keyspace.rows.grouped,
      ]
      keyspaces.append(keepsMore ? cells + [keyspace.retention.count.grouped] : cells)
    }
    if !info.keyspaces.isEmpty { lines += [""] + keyspaces.lines }

    var readers = Table([
      "change reader": .left, "has read up to": .right, "held bytes": .right, "at most": .right, "state": .left,
    ])
    for reader in figures.changeReaders {
      readers.append(
        escapedForTerminal(reader.name), "\(reader.position.sequence)", reader.heldBytes.grouped,
        reader.mostBytes.grouped, reader.isHeld ? "held for" : "too far behind")
    }
    if !figures.changeReaders.isEmpty { lines += [""] + readers.lines }

    var segments = Table([
      "id": .right, "segment": .left, "epoch": .right, "bytes": .right, "file": .right, "frames": .right,
      "records": .right,
    ])
    for segment in info.segments {
      segments.append(
        "\(segment.id)", segment.state.rawValue, "\(segment.epoch)", segment.end.grouped, segment.fileBytes.grouped,
        segment.frames.grouped, segment.records.grouped)
    }
    if !info.segments.isEmpty { lines += [""] + segments.lines }
    return lines
  }

  private func text(_ info: StoreInfo, _ names: ObjectNames) -> [String] {
    let objects = info.objects(names)
    var table = Table(["entity": .left, "objects": .right, "keyspace": .left])
    for (entity, count) in objects {
      table.append(escapedForTerminal(entity.name), count.grouped, names.keyspace(of: entity))
    }
    let count = objects.reduce(0) { $0 + $1.count }
    return ["core data   \(count.of("object")) in the store \(escapedForTerminal(names.uuid))", ""] + table.lines
  }

  private func json(_ info: StoreInfo) -> JSON {
    .object(members(info), "coreData", info.names.map { json(info, $0) })
  }

  private func members(_ info: StoreInfo) -> KeyValuePairs<String, JSON> {
    let figures = info.statistics
    return [
      "schema": .string("kvdump.info"), "schemaVersion": .number(2 as Int), "store": .string(info.path),
      "opens": .bool(true), "isBackup": .bool(info.isBackup),
      "uuid": .string(info.uuid), "formatVersion": .string(info.formatVersion), "generation": .number(info.generation),
      "epoch": .number(UInt64(info.epoch)), "lastSequence": .number(info.recovery.lastSequence),
      "watermark": .number(info.recovery.watermark), "rows": .number(figures.rows),
      "logBytes": .number(figures.logBytes), "liveBytes": .number(figures.liveBytes),
      "deadBytes": .number(figures.deadBytes), "segmentBytes": .number(info.segmentBytes),
      "discardedBytes": .number(info.recovery.discardedBytes),
      "checkpoints": .array(info.checkpoints.map { .number($0) }),
      "checkpointBytes": .number(figures.checkpointBytes),
      "keyspaces": .array(
        info.keyspaces.map {
          .object([
            "id": .number($0.id), "name": .string($0.name), "order": .string("\($0.order)"),
            "rows": .number($0.rows), "retention": .number($0.retention.count),
          ])
        }),
      "changeReaders": .array(
        figures.changeReaders.map {
          .object([
            "name": .string($0.name), "sequence": .number($0.position.sequence), "heldBytes": .number($0.heldBytes),
            "mostBytes": .number($0.mostBytes), "isHeld": .bool($0.isHeld),
          ])
        }),
      "segments": .array(
        info.segments.map {
          .object([
            "id": .number($0.id), "state": .string($0.state.rawValue), "epoch": .number(UInt64($0.epoch)),
            "bytes": .number($0.end), "fileBytes": .number($0.fileBytes), "frames": .number($0.frames),
            "records": .number($0.records),
          ])
        }),
    ]
  }

  private func json(_ info: StoreInfo, _ names: ObjectNames) -> JSON {
    .object([
      "uuid": .string(names.uuid),
      "entities": .array(
        info.objects(names).map { entity, count in
          .object([
            "name": .string(entity.name), "number": .number(UInt64(entity.number)), "objects": .number(count),
            "keyspace": .string(names.keyspace(of: entity)),
          ])
        }),
    ])
  }
}

extension StoreInfo {
  /// The number of objects of each entity, sorted by its name.
  fileprivate func objects(_ names: ObjectNames) -> [(entity: Schema.Entity, count: Int)] {
    names.schema.entities.sorted { $0.name < $1.name }.map { entity in
      (entity, keyspaces.first { $0.name == names.keyspace(of: entity) }?.rows ?? 0)
    }
  }
}
