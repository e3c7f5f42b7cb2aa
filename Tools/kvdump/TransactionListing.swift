import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

/// Who changed which objects of a Core Data store, and when.
struct TransactionListing {
  private let common: CommonArguments
  private let limit: Int
  private let author: String?

  init(_ common: CommonArguments, limit: Int?, author: String?) {
    self.common = common
    self.limit = limit ?? .max
    self.author = author
  }

  func write(_ store: Store, to output: inout Output) throws {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let objects = try ObjectStore(snapshot, of: store)
    let names = objects.names
    var listing = Listing("transactions", items: "transactions", common.format)
    try listing.begin(["store": .string(common.store), "uuid": .string(names.uuid)], to: &output)
    var count = 0
    var isDamaged = false
    Interruption.watch()
    if limit > 0 {
      try objects.forEachTransaction { number, result in
        do {
          let transaction = try result.get()
          guard author == nil || transaction.origin.author == author else { return .next }
          count += 1
          if listing.isText {
            try text(number, transaction, names, to: &output)
          } else {
            try listing.item(json(number, transaction, names), to: &output)
          }
        } catch let error as StoreError where error.code == .corrupted {
          isDamaged = true
          output.statusIfClosed = .finding
          complain("\(error)")
        }
        return count == limit || Interruption.isRequested ? .stop : .next
      }
    }
    Interruption.endIfRequested()
    try listing.end(["count": .number(count)], to: &output)
    guard !isDamaged else { throw ExitCode.finding }
  }

  // MARK: Text

  private func text(
    _ number: UInt64, _ transaction: HistoryRecord, _ names: ObjectNames, to output: inout Output
  ) throws {
    let origin = transaction.origin
    var parts = ["transaction \(number)", ISODate.text(origin.time)]
    if let author = origin.author { parts.append("author \(escapedForTerminal(author))") }
    if let context = origin.context { parts.append("context \(escapedForTerminal(context))") }
    parts.append("\(escapedForTerminal(origin.program)), process \(escapedForTerminal(origin.process))")
    try output.line(parts.joined(separator: "  "))
    for change in transaction.changes {
      try output.line("  \(words(for: change, names))")
    }
  }

  private func words(for change: HistoryRecord.Change, _ names: ObjectNames) throws -> String {
    let object = escapedForTerminal(names.name(of: change.object))
    switch change.kind {
    case .inserted: return "inserted  \(object)"
    case .updated(let properties):
      let list = properties.map { escapedForTerminal(names.propertyName($0)) }.joined(separator: ", ")
      return list.isEmpty ? "touched   \(object)" : "updated   \(object)  \(list)"
    case .deleted(let fields):
      let values = try names.values(ofFields: fields).map { value in
        "\(escapedForTerminal(value.name)): \(value.value.literal(names))"
      }
      return values.isEmpty ? "deleted   \(object)" : "deleted   \(object)  \(values.joined(separator: ", "))"
    }
  }

  // MARK: JSON

  private func json(_ number: UInt64, _ transaction: HistoryRecord, _ names: ObjectNames) throws -> JSON {
    let origin = transaction.origin
    return .object([
      "transaction": .number(number), "time": .string(ISODate.text(origin.time)),
      "author": origin.author.map { .string($0) } ?? .null, "context": origin.context.map { .string($0) } ?? .null,
      "program": .string(origin.program), "process": .string(origin.process),
      "changes": .array(try transaction.changes.map { try json($0, names) }),
    ])
  }

  private func json(_ change: HistoryRecord.Change, _ names: ObjectNames) throws -> JSON {
    let object = JSON.string(names.uri(of: change.object))
    switch change.kind {
    case .inserted: return .object(["object": object, "change": .string("insert")])
    case .updated(let properties):
      return .object([
        "object": object, "change": .string("update"),
        "properties": .array(properties.map { .string(names.propertyName($0)) }),
      ])
    case .deleted(let fields):
      return .object([
        "object": object, "change": .string("delete"),
        "tombstone": .members(
          try names.values(ofFields: fields).map { JSON.Member($0.name, $0.value.json(names)) }),
      ])
    }
  }
}
