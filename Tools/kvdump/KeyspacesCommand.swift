import ArgumentParser
import Cairn
import CairnInspection

struct KeyspacesCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "keyspaces",
    abstract: "Lists the keyspaces of a store.",
    discussion: """
      For each keyspace: its number, name and order, the number of its rows, the number of versions that it keeps of a \
      row, the bytes of its records, the number of its dictionaries, and the commit that defined it.

      Example: kvdump keyspaces orders.cairn
      """)

  @OptionGroup var common: CommonArguments

  func write(to output: inout Output) throws {
    let info = try Watched.opening { try StoreInfo(at: common.store, progress: $0) }
    var listing = Listing("keyspaces", items: "keyspaces", common.format)
    var table = Table([
      "id": .right, "keyspace": .left, "order": .left, "rows": .right, "versions": .right, "bytes": .right,
      "dictionaries": .right, "since": .right,
    ])
    try listing.begin(["store": .string(common.store)], to: &output)
    for keyspace in info.keyspaces {
      if listing.isText {
        table.append(
          "\(keyspace.id)", escapedForTerminal(keyspace.name), "\(keyspace.order)", keyspace.rows.grouped,
          keyspace.retention.count.grouped, keyspace.liveBytes.grouped, "\(keyspace.dictionaries.count)",
          "\(keyspace.definedAt)")
      } else {
        try listing.item(keyspace.members, to: &output)
      }
    }
    if listing.isText { for line in table.lines { try output.line(line) } }
    try listing.end(["count": .number(info.keyspaces.count)], to: &output)
  }
}

extension StoreInfo.Keyspace {
  var members: KeyValuePairs<String, JSON> {
    [
      "id": .number(id), "name": .string(name), "order": .string("\(order)"), "rows": .number(rows),
      "retention": .number(retention.count), "liveBytes": .number(liveBytes), "definedAt": .number(definedAt),
      "dictionaryBytes": .array(dictionaries.map { .number($0) }),
    ]
  }
}
