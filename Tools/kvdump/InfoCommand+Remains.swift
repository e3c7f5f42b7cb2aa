import Cairn
import CairnInspection

/// The information about a store that cannot be opened.
extension InfoCommand {
  func writeRemains(_ obstacle: StoreError, to output: inout Output) throws {
    let log = try LogReader(at: common.store)
    let manifest = log.manifest
    let uuid = manifest.map { Key.uuid($0.store.byteSwapped).description }
    guard common.format == .text else {
      return try output.write(
        .object([
          "schema": .string("kvdump.info"), "schemaVersion": .number(2 as Int), "store": .string(common.store),
          "opens": .bool(false), "obstacle": .string("\(obstacle)"), "uuid": uuid.map { .string($0) } ?? .null,
          "generation": manifest.map { .number($0.generation) } ?? .null,
          "epoch": manifest.map { .number(UInt64($0.epoch)) } ?? .null,
          "keyspaces": .array(
            (manifest?.keyspaces ?? []).map {
              .object([
                "id": .number($0.id), "name": .string($0.name),
                "order": .string($0.isOrdered ? "ordered" : "unordered"),
              ])
            }),
          "segments": .array(log.entries.map { .object(["id": .number($0.id)]) }),
        ]), common.format)
    }
    try output.line("store       \(escapedForTerminal(common.store)), which does not open")
    if let manifest, let uuid {
      try output.line("uuid        \(uuid)")
      try output.line("generation  \(manifest.generation.grouped)")
      try output.line("epoch       \(manifest.epoch)")
      try output.line("sequence    at least \(manifest.highestSequence)")
    }
    try output.line("segments    \(log.entries.map { "\($0.id)" }.joined(separator: ", "))")
    for keyspace in manifest?.keyspaces ?? [] {
      try output.line("keyspace    \(keyspace.id), \(escapedForTerminal(keyspace.name))")
    }
  }
}
