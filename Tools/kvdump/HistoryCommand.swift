import ArgumentParser
import Cairn
import CairnInspection

struct HistoryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Prints the versions of a row that the store keeps, newest first.",
    discussion: """
      Deletions are versions too. With --log, prints all versions in the log: superseded versions stay there until \
      compaction removes them. Exit status 1 if there is no version.

      Examples: kvdump history orders.cairn customers 42
                kvdump history orders.cairn customers 42 --log
                kvdump history library.cairn Person/p12
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The keyspace's name, or an object of Core Data by its URI or as Person/p12.")
  var keyspace: String

  @Argument(
    help: "The row's key in the keyspace; kvdump --help describes how to write a key.",
    transform: Key.parse)
  var key: Key?

  @Flag(help: "Also print versions that the store no longer keeps.")
  var log = false

  func validate() throws {
    guard key != nil || keyspace.contains("/") else {
      throw ValidationError("A row is named by its keyspace and its key, an object such as Person/p12.")
    }
  }

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let names = ObjectNames.read(from: store)
    let (keyspace, key) = try row(in: store, names)
    let role = names?.role(of: key, in: keyspace.name)
    let (versions, unreadable) =
      log
      ? try RowVersion.all(of: key, in: keyspace, LogReader(at: common.store))
      : (try store.history(of: key, in: keyspace), [])
    if versions.isEmpty || !unreadable.isEmpty { output.statusIfClosed = .finding }
    var listing = Listing("history", items: "versions", common.format)
    try listing.begin(
      ["store": .string(common.store), "keyspace": .string(keyspace.name), "key": .key(key)],
      to: &output)
    for version in versions {
      if listing.isText {
        output.write("sequence \(version.sequence)\tversion \(version.version.grouped)\t")
        if let value = version.value {
          names.append(value, of: role, to: &output.bytes)
        } else {
          output.write("deleted")
        }
        try output.endLine()
      } else {
        try listing.item(
          .object(
            [
              "sequence": .number(version.sequence), "version": .number(version.version),
              "value": version.value.map { .value($0) } ?? .null,
            ], "meaning", role.flatMap { names?.json($0, version.value) }), to: &output)
      }
    }
    try listing.end(["count": .number(versions.count)], to: &output)
    for sequence in unreadable { complain("the value of sequence \(sequence) cannot be decompressed") }
    guard unreadable.isEmpty else { throw ExitCode.finding }
    guard !versions.isEmpty else {
      let row =
        if let names, let role { names.text(role) } else {
          "row \(key.literal) in \(escapedForTerminal(keyspace.name))"
        }
      complain("there is no \(row)")
      throw ExitCode.finding
    }
  }

  private func row(in store: Store, _ names: ObjectNames?) throws -> (Keyspace, Key) {
    if let key { return (try store.existingKeyspace(names?.keyspace(named: keyspace) ?? keyspace), key) }
    guard let names else {
      throw StoreError(.notFound, "there are no Core Data objects in \(store.path)")
    }
    let row = names.row(of: try names.reference(keyspace))
    return (try store.existingKeyspace(row.keyspace), row.key)
  }
}
