import ArgumentParser
import Cairn
import CairnInspection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The inspection tool. Commands that inspect a store never change it, take no lock, work beside a writer, decode as
/// much as they can of damaged parts, and drop nothing silently. `CairnInspection` obtains the information; the
/// commands only print it. Commands that change a store are separate, and fail at once if another process has it open
/// for writing.
@main
struct Kvdump: ParsableCommand {
  #if canImport(Darwin)
    private static let importing: [any ParsableCommand.Type] = []
  #else
    private static let importing: [any ParsableCommand.Type] = [ImportCommand.self, MigrateCommand.self]
  #endif

  static let configuration = CommandConfiguration(
    commandName: "kvdump",
    abstract: "Inspects a Cairn store, exports its contents, and imports contents.",
    usage: """
      kvdump <store>
      kvdump <subcommand> <store> ...
      """,
    discussion: """
      Data goes to standard output, everything else to standard error. A process may write to a store while kvdump \
      reads the store. Only import, put, delete, drop and rollback change a store; no other process may have that \
      store open for writing. Text from a store that would move the cursor, or colour or reorder text, is escaped.

      Keys are written like this:
        42                   an integer
        d'1.5'               a floating-point number
        "Berlin\\n"           a string, escaped as in Swift
        Berlin               also a string, because it has none of the other forms
        x'0a0b'              bytes
        67e55044-10b1-426f-9247-bb680e5fe0c8
        (7, "a", x'00')      a tuple
      A key that begins with a minus sign must follow --, as in kvdump get -- orders.cairn numbers -5.

      Exit status:
        0    success
        1    the command found damage, a loss or a difference, or did not find the row or commit
        2    the store or another file is missing, is something else, or cannot be read
        3    the store is damaged where the command needs it
        4    another process has the store open for writing
        5    the output cannot be written, or the new store exists already
        64   wrong arguments
        65   malformed input
        141  the reader of the output has gone before the result was known
      If the reader of the output exits early, as head does, verify, diff, records and hex end with 1 if they have \
      found anything, else with 141 if they have not read everything. For other commands that is success.

      Examples: kvdump orders.cairn
                kvdump scan orders.cairn customers --from 100 --limit 10
                kvdump verify orders.cairn && echo sound
                kvdump tail -f orders.cairn
                kvdump dump orders.cairn --format jsonl | kvdump load -o copy.cairn
                kvdump backup orders.cairn -o backups/orders
                kvdump salvage broken.cairn -o saved.cairn
      """,
    version: "kvdump 1.0, store format \(Format.majorVersion).\(Format.minorVersion)",
    subcommands: [
      InfoCommand.self, StatsCommand.self, KeyspacesCommand.self, SegmentsCommand.self, RecordsCommand.self,
      HexCommand.self, GetCommand.self, HistoryCommand.self, ScanCommand.self, VerifyCommand.self, DiffCommand.self,
      TailCommand.self, DumpCommand.self, LoadCommand.self, BackupCommand.self, RestoreCommand.self,
      CompactCommand.self, SalvageCommand.self, SchemaCommand.self, ObjectsCommand.self, ObjectCommand.self,
    ] + importing + [
      PutCommand.self, DeleteCommand.self, DropCommand.self, RollbackCommand.self, CompletionsCommand.self,
    ],
    defaultSubcommand: InfoCommand.self)

  static func main() {
    // With SIGPIPE ignored, a write to a closed pipe fails with EPIPE instead of ending the process, even while the
    // help is printed.
    signal(SIGPIPE, SIG_IGN)
    if let mistake = MistypedCommand(CommandLine.arguments.dropFirst()) {
      complain("\(mistake)")
      exit(withError: ExitCode.validationFailure)
    }
    main(nil)
  }
}

/// How results are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json, jsonl
}

/// The arguments of every command.
struct CommonArguments: ParsableArguments {
  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "Print for people (text), as one JSON document (json), or as one JSON object per line (jsonl).")
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
      // Output that was made before an error goes out before the message.
      let result = Result { try write(to: &output) }
      do {
        try output.flush()
      } catch OutputError.closed {
        try result.get()
        throw OutputError.closed
      }
      try result.get()
    } catch OutputError.closed {
      // That the reader has closed the pipe is not an error.
      guard output.statusIfClosed.isSuccess else { throw output.statusIfClosed }
    } catch let status as ExitCode {
      throw status
    } catch {
      complain("\(error)")
      throw (error as? any StatusError)?.status ?? .unreadable
    }
  }
}

extension Key {
  /// Parses a key given as an argument.
  static let parse: @Sendable (String) throws -> Key = { try Key(literal: $0) }
}
