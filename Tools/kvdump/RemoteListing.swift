import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

/// What a Core Data store knows of a remote service.
struct RemoteListing {
  enum Part: String, EnumerableFlag {
    case remote, outbox, results

    static func help(for part: Part) -> ArgumentHelp? {
      switch part {
      case .remote: "Print what is known of the objects at the remote service instead of them."
      case .outbox: "Print the changes that wait for the remote service, or were refused."
      case .results: "Print the lists of the remote service that have been read."
      }
    }
  }

  /// How many rows of a table are aligned together.
  private static let tableRows = 1000

  private let part: Part
  private let command: ObjectsCommand
  private let limit: Int

  init(_ part: Part, of command: ObjectsCommand) {
    (self.part, self.command) = (part, command)
    limit = command.limit ?? .max
  }

  func write(_ store: Store, to output: inout Output) throws {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let objects = try ObjectStore(snapshot, of: store)
    let names = objects.names
    let entities = try command.entity.map { names.schema.family(of: try names.entity(named: $0).number) }
    func isShown(_ entity: UInt32) -> Bool { entities?.contains { $0.number == entity } ?? true }
    var writer = Writer(part, command.format)
    let head = try objects.remoteHead()
    try writer.begin(
      [
        "store": .string(command.store), "uuid": .string(names.uuid),
        "account": head.map { .string($0.account) } ?? .null,
        "cursor": head?.cursor.map { .string($0) } ?? .null,
      ], to: &output)
    if part == .remote, command.format == .text, let head {
      try output.line("account  \(escapedForTerminal(head.account))")
      try output.line("cursor   \(escapedForTerminal(head.cursor ?? "none"))")
    }
    Interruption.watch()
    func each<Item>(_ item: Result<Item, any Error>, _ body: (Item) throws -> Void) throws -> ScanStep {
      guard writer.count < limit else { return .stop }
      do {
        try body(try item.get())
      } catch let error as StoreError where error.code == .corrupted {
        writer.isDamaged = true
        output.statusIfClosed = .finding
        complain("\(error)")
      }
      return Interruption.isRequested ? .stop : .next
    }
    switch part {
    case .remote:
      try objects.forEachOrigin { item in
        try each(item) { object, origin in
          guard isShown(object.entity) else { return }
          let isPartial = try objects.isPartial(object)
          try writer.write(names.cells(object, origin, isPartial), names.json(object, origin, isPartial), to: &output)
        }
      }
    case .outbox:
      try objects.forEachOutboxChange { item in
        try each(item) { number, change in
          guard isShown(change.object.entity) else { return }
          try writer.write(try names.cells(number, change), names.json(number, change), to: &output)
        }
      }
    case .results:
      try objects.forEachResult { item in
        try each(item) { list, count in
          guard isShown(list.entity) else { return }
          try writer.write(names.cells(list, count), names.json(list, count), to: &output)
        }
      }
    }
    Interruption.endIfRequested()
    try writer.end(to: &output)
    guard !writer.isDamaged else { throw ExitCode.finding }
  }

  /// Prints items as the rows of tables, or as JSON.
  private struct Writer {
    private let columns: KeyValuePairs<String, Table.Alignment>
    private var listing: Listing
    private var table: Table?
    private(set) var count = 0
    var isDamaged = false

    init(_ part: Part, _ format: ObjectFormat) {
      switch part {
      case .remote:
        listing = Listing("origins", items: "origins", format.listed)
        columns = [
          "object": .left, "loaded": .left, "identifier": .left, "tag": .left, "read": .left, "pinned": .left,
          "changes": .left,
        ]
      case .outbox:
        listing = Listing("outbox", items: "changes", format.listed)
        columns = [
          "change": .right, "object": .left, "kind": .left, "state": .left, "attempts": .right, "not before": .left,
          "properties": .left, "refusal": .left,
        ]
      case .results:
        listing = Listing("results", items: "lists", format.listed)
        columns = [
          "list": .left, "entity": .left, "pages": .right, "objects": .right, "complete": .left, "read": .left,
        ]
      }
    }

    mutating func begin(_ members: KeyValuePairs<String, JSON>, to output: inout Output) throws {
      try listing.begin(members, to: &output)
    }

    mutating func write(_ cells: [String], _ json: JSON, to output: inout Output) throws {
      if listing.isText {
        if count % RemoteListing.tableRows == 0 { try endTable(to: &output) }
        if table == nil { table = Table(columns) }
        table?.append(cells)
      } else {
        try listing.item(json, to: &output)
      }
      count += 1
    }

    mutating func end(to output: inout Output) throws {
      try endTable(to: &output)
      try listing.end(["count": .number(count)], to: &output)
    }

    private mutating func endTable(to output: inout Output) throws {
      for line in table?.lines ?? [] { try output.line(line) }
      table = nil
    }
  }
}
