import ArgumentParser
import Cairn
import CairnInspection

struct DumpCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Prints everything in a store in a form that can be loaded again.",
    discussion: """
      As text, the format of Berkeley DB's db_dump, which db_load and LMDB's mdb_load read: a named section for each \
      keyspace, and the newest version of each row. With --profile lmdb, what mdb_load needs for more than 1 MiB, and only keys \
      that LMDB takes. As jsonl or json, all versions that are kept with their numbers: kvdump load restores them exactly.

      What has been cut off is never taken for whole: DATA=END and the last line come only after everything else. \
      Whatever is left out is told on standard error.

        --keys encoded  the key is the encoded reference, whatever it is (FORMAT.md, section 6)
        --keys bytes    the key is the bytes of a reference that is bytes; any other ends the dump
        --keys text     the key is the UTF-8 of a reference that is a string; any other ends the dump

      Examples: kvdump dump orders.cairn | db5.3_load orders.db
                kvdump dump orders.cairn --profile lmdb | mdb_load -n orders.mdb
                kvdump dump orders.cairn --format jsonl > orders.jsonl
      """)

  @OptionGroup var common: CommonArguments

  @Argument(help: "Names of keyspaces; all of them without one.")
  var keyspaces: [String] = []

  @Option(help: "Whose loader the text is for.")
  var profile = DumpProfile.bdb

  @Option(help: "What stands for a row's reference in text.")
  var keys = DumpKeys.encoded

  @Flag(help: "Leave the name of the one keyspace out.")
  var unnamed = false

  @Flag(help: "With --profile lmdb, print keys of more than 511 bytes too.")
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
    output.write(isFirst ? "{\"schema\": \"kvdump.dump\", \"schemaVersion\": 1, \"lines\": [\n" : ",\n")
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
