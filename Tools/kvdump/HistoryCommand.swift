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
      """)

  @OptionGroup var common: CommonArguments

  @OptionGroup var row: RowArguments

  @Flag(help: "Also print versions that the store no longer keeps.")
  var log = false

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let keyspace = try store.existingKeyspace(row.keyspace)
    let (versions, unreadable) =
      log
      ? try RowVersion.all(of: row.key, in: keyspace, LogReader(at: common.store))
      : (try store.history(of: row.key, in: keyspace), [])
    if versions.isEmpty || !unreadable.isEmpty { output.statusIfClosed = .finding }
    var listing = Listing("history", items: "versions", common.format)
    try listing.begin(
      ["store": .string(common.store), "keyspace": .string(keyspace.name), "key": .key(row.key)],
      to: &output)
    for version in versions {
      if listing.isText {
        output.write("sequence \(version.sequence)\tversion \(version.version.grouped)\t")
        if let value = version.value {
          unsafe value.withUnsafeBytes { unsafe output.bytes.append(valueLiteral: $0) }
        } else {
          output.write("deleted")
        }
        try output.endLine()
      } else {
        try listing.item(
          [
            "sequence": .number(version.sequence), "version": .number(version.version),
            "value": version.value.map { .value($0) } ?? .null,
          ], to: &output)
      }
    }
    try listing.end(["count": .number(versions.count)], to: &output)
    for sequence in unreadable { complain("the value of sequence \(sequence) cannot be decompressed") }
    guard unreadable.isEmpty else { throw ExitCode.finding }
    guard !versions.isEmpty else {
      complain("there is no row \(row.key.literal) in \(escapedForTerminal(keyspace.name))")
      throw ExitCode.finding
    }
  }
}
