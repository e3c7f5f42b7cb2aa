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

struct TailCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Prints the last commits, and with -f new commits as they happen.",
    discussion: """
      Prints a line for each commit and a line for each change in it: + for a put, - for a deletion. Commits are shown \
      as soon as they are in the log, before they are durable. With -f, Control-C ends the command. If commits are \
      compacted before they can be shown, the output says so.

      Examples: kvdump tail orders.cairn -n 3
                kvdump tail -f orders.cairn --keyspace customers --format jsonl
      """)

  @OptionGroup var common: CommonArguments

  @Flag(name: .shortAndLong, help: "Wait for new commits.")
  var follow = false

  @Option(name: .customShort("n"), help: ArgumentHelp("Begin with this many existing commits.", valueName: "number"))
  var count = 10

  @Option(help: ArgumentHelp("Print only changes of this keyspace.", valueName: "name"))
  var keyspace: String?

  func validate() throws {
    guard count >= 0 else { throw ValidationError("-n must not be negative, as \(count) is.") }
    guard !follow || common.format != .json else {
      throw ValidationError("-f never ends the JSON document; use --format jsonl.")
    }
  }

  /// The shortest and the longest pause between two looks at the log, in microseconds.
  private static let shortestPause: UInt32 = 500
  private static let longestPause: UInt32 = 50_000

  func write(to output: inout Output) throws {
    Interruption.watch()
    var follower = CommitFollower(at: common.store, after: try start())
    var listing = Listing("tail", items: "commits", common.format)
    try listing.begin(["store": .string(common.store)], to: &output)
    var shown = 0
    var pause = Self.shortestPause
    repeat {
      let before = follower.lastSequence
      try follower.news { news in
        switch news {
        case .commit(let commit):
          let changes = shownChanges(of: commit)
          if isShown(changes) {
            shown += 1
            try print(commit, changes, &listing, &output)
          }
        case .missed(let after, let before):
          if listing.isText {
            try output.line(
              "commits after \(after.grouped) and before \(before.grouped) were compacted, or are damaged")
          } else {
            try listing.item(["missedAfter": .number(after), "missedBefore": .number(before)], to: &output)
          }
        }
        return Interruption.isRequested ? .stop : .next
      }
      try output.flush()
      // New commits are usually followed by more.
      pause = follower.lastSequence > before ? Self.shortestPause : min(2 * pause, Self.longestPause)
      if follow, !Interruption.isRequested { usleep(pause) }
    } while follow && !Interruption.isRequested
    Interruption.endIfRequested()
    try listing.end(["count": .number(shown)], to: &output)
  }

  /// The sequence after which the last `count` commits to show begin. With a keyspace, reads ever more of the log until
  /// so many commits have changes of it.
  private func start() throws -> UInt64 {
    var span = count
    while true {
      let known = try CommitFollower.last(span < .max ? span + 1 : span, at: common.store)
      let start = known.count > span ? known[known.count - span - 1] : 0
      guard keyspace != nil else { return start }
      var last = start
      // The sequences before the commits to show.
      var starts: [UInt64] = []
      var follower = CommitFollower(at: common.store, after: start)
      try follower.news { news in
        guard case .commit(let commit) = news else { return .next }
        if isShown(shownChanges(of: commit)) { starts.append(last) }
        last = commit.sequence
        return Interruption.isRequested ? .stop : .next
      }
      Interruption.endIfRequested()
      if starts.count >= count { return starts.suffix(count).first ?? last }
      if start == 0 { return 0 }
      span = span > .max / 4 ? .max : span * 4
    }
  }

  private func shownChanges(of commit: LoggedCommit) -> [LoggedCommit.Change] {
    commit.changes.filter { keyspace == nil || $0.keyspace == keyspace }
  }

  private func isShown(_ changes: [LoggedCommit.Change]) -> Bool { keyspace == nil || !changes.isEmpty }

  private func print(
    _ commit: LoggedCommit, _ changes: [LoggedCommit.Change], _ listing: inout Listing, _ output: inout Output
  ) throws {
    guard listing.isText else {
      return try listing.item(
        [
          "sequence": .number(commit.sequence), "time": .string("\(Timestamp(nanoseconds: commit.time))"),
          "segment": .number(UInt64(commit.place.segment)), "offset": .number(commit.place.offset),
          "length": .number(commit.length), "changes": .array(changes.map(json)),
        ], to: &output)
    }
    try output.line(
      Terminal.styled(
        "commit \(commit.sequence.grouped)  \(Timestamp(nanoseconds: commit.time))  \(commit.length.grouped) bytes",
        .bold)
    )
    for change in changes {
      try text(change, &output.bytes)
      try output.endLine()
    }
  }

  private func text(_ change: LoggedCommit.Change, _ bytes: inout [UInt8]) throws {
    let record = change.record
    let name = change.keyspace.map(escapedForTerminal) ?? "keyspace \(record.keyspace)"
    switch (record.kind, record.key) {
    case (.put, .row(let reference)):
      bytes += Array("  + \(name)\t\(reference.literal)\t".utf8)
      guard let value = change.value else {
        bytes += Array("a value that cannot be read".utf8)
        return
      }
      unsafe value.withUnsafeBytes { unsafe bytes.append(valueLiteral: $0) }
    case (.tombstone, .row(let reference)): bytes += Array("  - \(name)\t\(reference.literal)".utf8)
    default: bytes += Array("    \(record.kind?.name ?? "unknown kind") \(name)".utf8)
    }
  }

  private func json(_ change: LoggedCommit.Change) -> JSON {
    .object([
      "kind": .string(change.record.kind?.name ?? "unknown"),
      "keyspace": change.keyspace.map { .string($0) } ?? .null, "key": change.record.key.json,
      "value": change.value.map { .value($0) } ?? .null, "version": .number(change.record.version),
    ])
  }
}
