import ArgumentParser
import Cairn
import CairnInspection

struct LoadCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Makes a new store of a dump.",
    discussion: """
      Reads what kvdump dump, db_dump and mdb_dump write: the format of Berkeley DB, each section a keyspace, or JSON \
      lines, which bring back every version with its numbers. Which of them it is, is seen from the first character. \
      Either all of it is loaded, or there is no new store. What a dump says that has no meaning here is told on standard error.

        --keys encoded  keys are encoded references, as kvdump dump writes them
        --keys bytes    keys become references that are bytes: for dumps from elsewhere
        --keys text     keys become references that are strings; they have to be UTF-8

      Examples: kvdump load -o restored.cairn orders.jsonl
                mdb_dump -a -n orders.mdb | kvdump load -o orders.cairn
                db5.3_dump people.db | kvdump load -o people.cairn --keys bytes --keyspace people
      """)

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The directory of the new store.", valueName: "new store"),
    completion: .directory)
  var output: String

  @Argument(help: "The dump; standard input without one.", completion: .file())
  var dump: String?

  @Option(help: "What keys are in the format of Berkeley DB.")
  var keys = DumpKeys.encoded

  @Option(help: ArgumentHelp("What a section without a name becomes.", valueName: "name"))
  var keyspace = "main"

  @Flag(help: "Make the keyspaces unordered, in the format of Berkeley DB.")
  var unordered = false

  @Option(help: "How the report is printed: for people (text), as JSON (json), or JSON in a line (jsonl).")
  var format = OutputFormat.text

  func validate() throws {
    guard !keyspace.isEmpty, keyspace.utf8.count <= Int(UInt16.max) else {
      throw ValidationError("--keyspace has 1 to 65,535 bytes.")
    }
  }

  func write(to report: inout Output) throws {
    let input = try Input(dump)
    let isJSON = try input.peek() == UInt8(ascii: "{")
    var remarks: [String] = []
    let contents = try Watched.working("loading, rows") { progress in
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
          "schema": .string("kvdump.\(schema)"), "schemaVersion": .number(1 as Int), "store": .string(store),
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
      "\(verb) \(rows.of("row"))\(older) into \(escapedForTerminal(store)), \(bytes.grouped) bytes, up to sequence "
        + lastSequence.grouped)
  }
}
