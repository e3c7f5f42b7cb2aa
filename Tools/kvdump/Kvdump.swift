import ArgumentParser
import Cairn
import CairnInspection

/// The inspection tool. It never changes a store, takes no lock, and works beside a writer; what it knows comes from
/// `CairnInspection`, the commands only render it.
@main
struct Kvdump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvdump",
    abstract: "Looks into a Cairn store and changes nothing.",
    usage: """
      kvdump <store>
      kvdump info <store>
      kvdump get <store> <keyspace> <reference>
      kvdump scan <store> <keyspace> [--prefix <reference>]
      kvdump verify <store>
      """,
    discussion: """
      Data goes to standard output, everything else to standard error. A store may be looked at while a process writes \
      to it. Whatever in a store would move the cursor, colour or reorder text is escaped.

      References are written like this:
        42                   an integer
        "Berlin\\n"           a string, escaped as in Swift
        Berlin               a string too, being none of the others
        x'0a0b'              bytes
        67e55044-10b1-426f-9247-bb680e5fe0c8
        (7, "a", x'00')      a tuple
      One that begins with a minus sign follows a --, as in kvdump get -- orders.cairn numbers -5.

      Exit status: 0 fine; 1 damage was found, or there is no such row; 2 the store cannot be opened or read; 64 wrong \
      arguments. A reader that goes away, as head does, is no error.
      """,
    subcommands: [
      InfoCommand.self, StatsCommand.self, KeyspacesCommand.self, SegmentsCommand.self, RecordsCommand.self,
      HexCommand.self, GetCommand.self, HistoryCommand.self, ScanCommand.self, VerifyCommand.self, DiffCommand.self,
      TailCommand.self, DumpCommand.self, LoadCommand.self, CompactCommand.self, SalvageCommand.self,
      CompletionsCommand.self,
    ],
    defaultSubcommand: InfoCommand.self)
}

/// How results are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json, jsonl
}

/// What every command takes.
struct CommonArguments: ParsableArguments {
  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "For people (text), as one JSON document (json), or as one JSON object a line (jsonl).")
  var format = OutputFormat.text
}

/// A command that writes its result to standard output.
protocol Command: ParsableCommand {
  func write(to output: inout Output) throws
}

extension Command {
  func run() throws {
    var output = Output()
    do {
      // What there is goes out before any complaint.
      let result = Result { try write(to: &output) }
      try output.flush()
      try result.get()
    } catch OutputError.closed {
      // Whoever was reading has seen enough.
    } catch let status as ExitCode {
      throw status
    } catch {
      complain("\(error)")
      throw ExitCode(2)
    }
  }
}

extension Reference {
  /// As an argument.
  static let parse: @Sendable (String) throws -> Reference = { try Reference(literal: $0) }
}
