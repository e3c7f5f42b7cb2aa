import ArgumentParser
import Cairn
import CairnInspection

struct LoadCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Makes a new store from a dump.",
    discussion: """
      Reads the output of kvdump dump, db_dump and mdb_dump: the format of Berkeley DB, in which each section is a \
      keyspace, or JSON lines, which contain every version with its numbers. The first character tells which of the \
      two it is. If the dump cannot be loaded completely, no new store is left behind. Header fields that have no \
      meaning in Cairn are reported on standard error.

        --keys encoded  keys are encoded keys, as kvdump dump writes them
        --keys bytes    keys are bytes; for dumps of other databases
        --keys text     keys are strings; the keys must be UTF-8

      Examples: kvdump load -o restored.cairn orders.jsonl
                mdb_dump -a -n orders.mdb | kvdump load -o orders.cairn
                db5.3_dump people.db |
                  kvdump load -o people.cairn --keys bytes --keyspace people
      """)

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The directory of the new store; it must be missing or empty.", valueName: "new store"),
    completion: .directory)
  var output: String

  @Argument(help: "The file with the dump; standard input if omitted.", completion: .file())
  var dump: String?

  @Option(help: "The meaning of the keys of a dump in the format of Berkeley DB.")
  var keys = DumpKeys.encoded

  @Option(help: ArgumentHelp("The keyspace for a section without a name.", valueName: "name"))
  var keyspace = "main"

  @Flag(help: "Make the keyspaces of a dump in the format of Berkeley DB unordered.")
  var unordered = false

  @Option(help: "Print the report for people (text), as JSON (json), or as JSON on one line (jsonl).")
  var format = OutputFormat.text

  func validate() throws {
    guard !keyspace.isEmpty, keyspace.utf8.count <= Int(UInt16.max) else {
      throw ValidationError("--keyspace must have 1 to 65,535 bytes.")
    }
  }

  func write(to report: inout Output) throws {
    let input = try Input(dump)
    let isJSON = try input.peek() == UInt8(ascii: "{")
    var remarks: [String] = []
    let contents = try Watched.working("loading rows") { progress in
      var loading = StoreLoading(
        at: output, isJSON ? .jsonLines : .berkeley(keys, unnamed: keyspace, isOrdered: !unordered), progress: progress)
      defer { remarks = loading.remarks }
      return try loading.load(LineReader { try input.read(into: &$0, atMost: $1) })
    }
    for remark in remarks { complain(remark) }
    try contents.print("loaded", as: "load", store: output, format, to: &report)
  }
}

extension NewStore.Contents {
  /// Prints the contents of a new store: its keyspaces, rows and size.
  func print(
    _ verb: String, as schema: String, store: String, _ format: OutputFormat, to output: inout Output
  ) throws {
    guard format == .text else {
      return try output.write(
        .object([
          "schema": .string("kvdump.\(schema)"), "schemaVersion": .number(2 as Int), "store": .string(store),
          "rows": .number(rows), "versions": .number(versions), "lastSequence": .number(lastSequence),
          "logBytes": .number(bytes), "dictionaries": .number(dictionaries),
          "keyspaces": .array(keyspaces.map { .object(["name": .string($0.name), "rows": .number($0.rows)]) }),
        ]), format)
    }
    var table = Table(["keyspace": .left, "rows": .right])
    for keyspace in keyspaces { table.append(escapedForTerminal(keyspace.name), keyspace.rows.grouped) }
    if !keyspaces.isEmpty { for line in table.lines { try output.line(line) } }
    let older = versions > rows ? " and \((versions - rows).of("older version"))" : ""
    try output.line(
      "\(verb) \(rows.of("row"))\(older) into \(escapedForTerminal(store)), \(bytes.grouped) bytes, "
        + "up to sequence \(lastSequence)")
  }
}
