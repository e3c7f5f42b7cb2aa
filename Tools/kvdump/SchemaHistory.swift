import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

/// What the versions of a Core Data store's schema in the log have changed.
struct SchemaHistory {
  private let common: CommonArguments
  private let store: Store

  init(_ store: Store, _ common: CommonArguments) {
    self.store = store
    self.common = common
  }

  /// The key of the schema in table 0.
  private static let key: Key = 2

  func write(to output: inout Output) throws {
    guard let names = ObjectNames.read(from: store) else {
      throw StoreError(.notFound, "there are no Core Data objects in \(store.path)")
    }
    let keyspace = try store.existingKeyspace("table 0")
    let log = try LogReader(at: common.store)
    let (versions, unreadable) = try RowVersion.all(of: Self.key, in: keyspace, log)
    let times = try times(keyspace, log)
    if !unreadable.isEmpty { output.statusIfClosed = .finding }
    var listing = Listing("schema-history", items: "changes", common.format)
    try listing.begin(["store": .string(common.store), "uuid": .string(names.uuid)], to: &output)
    var former: Schema?
    var table = Table(["sequence": .right, "time": .left, "entity": .left, "property": .left, "change": .left])
    var count = 0
    for version in versions.reversed() {
      guard let value = version.value, let schema = try? Schema(value) else { continue }
      defer { former = schema }
      // The oldest version in the log need not be the first of the store.
      guard let former else {
        if listing.isText { try output.line("sequence \(version.sequence) is the oldest schema in the log") }
        continue
      }
      for change in SchemaDifference(from: former, to: schema).changes {
        count += 1
        if listing.isText {
          table.append(
            "\(version.sequence)", times[version.sequence].map { "\($0)" } ?? "", escapedForTerminal(change.entity),
            escapedForTerminal(change.property ?? ""),
            escapedForTerminal(change.words))
        } else {
          try listing.item(
            [
              "sequence": .number(version.sequence),
              "time": times[version.sequence].map { JSON.string("\($0)") } ?? .null, "entity": .string(change.entity),
              "property": change.property.map { JSON.string($0) } ?? .null, "change": .string(change.words),
            ], to: &output)
        }
      }
    }
    if listing.isText, count > 0 { for line in table.lines { try output.line(line) } }
    try listing.end(["count": .number(count)], to: &output)
    for sequence in unreadable { complain("the schema of sequence \(sequence) cannot be decompressed") }
    guard unreadable.isEmpty else { throw ExitCode.finding }
  }

  /// When the versions of the schema were written, as far as compaction has not written them since.
  private func times(_ keyspace: Keyspace, _ log: LogReader) throws -> [CommitSequence: Timestamp] {
    var times: [CommitSequence: Timestamp] = [:]
    let key = Self.key.encoded
    for entry in log.entries {
      guard let segment = try log.segment(entry), segment.origin?.isCompacted == false else { continue }
      segment.forEachPiece { piece in
        guard case .frame(let frame) = piece else { return true }
        frame.forEachRecord { record, _ in
          guard record.header.keyspace == keyspace.id, unsafe record.key.elementsEqual(key) else { return }
          times[record.header.sequence] = Timestamp(nanoseconds: frame.header.time)
        }
        return true
      }
    }
    return times
  }
}
