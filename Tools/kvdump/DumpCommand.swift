import ArgumentParser
import Cairn
import CairnInspection

struct DumpCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Prints everything in a store in a form that can be loaded again.",
    discussion: """
      Text is in the format of Berkeley DB's db_dump, which db_load and LMDB's mdb_load read: a named section for each \
      keyspace, with the newest version of each row. --profile lmdb adds the map size that mdb_load needs for more \
      than 1 MiB, and refuses keys that LMDB does not accept. Output as jsonl or json contains all versions that the \
      store keeps, with their version numbers and sequences; kvdump load restores them exactly.

      A truncated dump is never mistaken for a complete one: DATA=END and the last line are written only after \
      everything else. Everything that the dump omits is reported on standard error.

        --keys encoded  the encoded key, of any kind (FORMAT.md, section 6)
        --keys bytes    the bytes of a key that is bytes; others end the dump
        --keys text     the UTF-8 of a key that is a string; others end the dump

      Examples: kvdump dump orders.cairn | db5.3_load orders.db
                kvdump dump orders.cairn --profile lmdb | mdb_load -n orders.mdb
                kvdump dump orders.cairn --format jsonl > orders.jsonl
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "The names of the keyspaces to dump; all keyspaces if none is named.")
  var keyspaces: [String] = []

  @Option(help: "The database whose loader is to read the text.")
  var profile = DumpProfile.bdb

  @Option(help: "The form of the keys in text.")
  var keys = DumpKeys.encoded

  @Flag(help: "Omit the name of the keyspace; for a dump of one keyspace.")
  var unnamed = false

  @Flag(help: "With --profile lmdb, do not refuse keys of more than 511 bytes.")
  var anyKeyLength = false

  func validate() throws {
    guard common.format == .text || (profile == .bdb && keys == .encoded && !unnamed && !anyKeyLength) else {
      throw ValidationError("--profile, --keys, --unnamed and --any-key-length are for --format text.")
    }
  }

  func write(to output: inout Output) throws {
    let store = try Watched.store(common.store)
    defer { try? store.close() }
    let form: StoreDump.Form =
      common.format == .text ? .berkeley(BerkeleyDump(profile, keys), isNamed: !unnamed) : .jsonLines
    let dump = try StoreDump(store, keyspaces, form, isPastKeyLimit: anyKeyLength)
    for omission in dump.omissions { complain("not in the dump: \(omission); --format jsonl has it") }
    try Watched.working("dumping") { progress in
      if common.format == .json {
        var document = DocumentOfLines(output)
        try dump.write(to: &document, progress: progress)
        output = try document.finish()
      } else {
        try dump.write(to: &output, progress: progress)
      }
    }
  }
}

/// Joins JSON lines into one document: `{"lines":[…]}`, with the schema before the lines.
private struct DocumentOfLines: LineSink {
  private var output: Output
  private var isFirst = true
  var bytes: [UInt8] = []

  init(_ output: Output) { self.output = output }

  mutating func endLine() throws {
    output.write(isFirst ? "{\"schema\": \"kvdump.dump\", \"schemaVersion\": 2, \"lines\": [\n" : ",\n")
    isFirst = false
    output.bytes += bytes
    bytes.removeAll(keepingCapacity: true)
    if output.isFull { try output.flush() }
  }

  mutating func finish() throws -> Output {
    try output.line("\n]}")
    return output
  }
}

extension DumpProfile: ExpressibleByArgument {}
extension DumpKeys: ExpressibleByArgument {}
