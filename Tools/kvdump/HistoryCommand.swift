import ArgumentParser
import Cairn
import CairnInspection

struct HistoryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Prints the versions of a row, or the transactions of a Core Data store, newest first.",
    discussion: """
      Without a row, prints the history of a Core Data store that records it: who changed which objects, and when.

      Of a row, prints the versions that the store keeps. Deletions are versions too. With --log, prints all versions \
      in the log: superseded versions stay there until compaction removes them. For an object of Core Data, also prints when the store touched it: a relationship has \
      changed at its other end. Exit status 1 if there is no version.

      Examples: kvdump history orders.cairn customers 42
                kvdump history orders.cairn customers 42 --log
                kvdump history library.cairn Person/p12
                kvdump history library.cairn --author ada --limit 10
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The keyspace's name, or an object of Core Data by its URI or as Person/p12.")
  var keyspace: String?

  @Argument(
    help: "The row's key in the keyspace; kvdump --help describes how to write a key.",
    transform: Key.parse)
  var key: Key?

  @Flag(help: "Also print versions that the store no longer keeps.")
  var log = false

  @Option(
    help: ArgumentHelp("Print at most this many transactions; all if omitted.", valueName: "number"),
    transform: Int.parse)
  var limit: Int?

  @Option(help: ArgumentHelp("Print only transactions of this author.", valueName: "name"))
  var author: String?

  func validate() throws {
    guard let keyspace else {
      guard !log else { throw ValidationError("--log requires a row.") }
      return
    }
    guard key != nil || keyspace.contains("/") else {
      throw ValidationError("A row is named by its keyspace and its key, an object such as Person/p12.")
    }
    guard limit == nil, author == nil else { throw ValidationError("--limit and --author are for transactions.") }
  }

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    guard let place = keyspace else {
      return try TransactionListing(common, limit: limit, author: author).write(store, to: &output)
    }
    let names = ObjectNames.read(from: store)
    let (keyspace, key) = try row(at: place, in: store, names)
    let role = names?.role(of: key, in: keyspace.name)
    var (versions, unreadable) = try versions(of: key, in: keyspace, store)
    if let names, case .object(let object) = role {
      let place = names.touches(of: object)
      if let touches = store.keyspaces.first(where: { $0.name == place.keyspace }) {
        let touched = try self.versions(of: place.key, in: touches, store, role: .touches(object))
        versions = (versions + touched.versions).sorted { $0.version.sequence > $1.version.sequence }
        unreadable += touched.unreadable
      }
    }
    if versions.isEmpty || !unreadable.isEmpty { output.statusIfClosed = .finding }
    var listing = Listing("history", items: "versions", common.format)
    try listing.begin(
      ["store": .string(common.store), "keyspace": .string(keyspace.name), "key": .key(key)],
      to: &output)
    for (version, touches) in versions {
      let role = touches ?? role
      if listing.isText {
        let word = touches == nil ? "version" : "touches"
        output.write("sequence \(version.sequence)\t\(word) \(version.version.grouped)\t")
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

  /// The versions of a row, newest first, and the sequences of those that cannot be decompressed.
  ///
  /// - Parameter role: the role of the row, if it is not the row that the command names.
  private func versions(
    of key: Key, in keyspace: Keyspace, _ store: Store, role: RowRole? = nil
  ) throws -> (versions: [(version: RowVersion, role: RowRole?)], unreadable: [CommitSequence]) {
    let (versions, unreadable) =
      log
      ? try RowVersion.all(of: key, in: keyspace, LogReader(at: common.store))
      : (try keyspace.history(of: key), [])
    return (versions.map { ($0, role) }, unreadable)
  }

  private func row(at place: String, in store: Store, _ names: ObjectNames?) throws -> (Keyspace, Key) {
    if let key { return (try store.existingKeyspace(names?.keyspace(named: place) ?? place), key) }
    guard let names else {
      throw StoreError(.notFound, "there are no Core Data objects in \(store.path)")
    }
    let row = names.row(of: try names.reference(place))
    return (try store.existingKeyspace(row.keyspace), row.key)
  }
}
