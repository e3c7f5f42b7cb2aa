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

      \(Since.help) All such commits are shown, unless -n limits their number. Commits that compaction has moved are not \
      shown; their records are counted on standard error.

      \(SequenceHelp.text)

      Examples: kvdump tail orders.cairn -n 3
                kvdump tail orders.cairn --since 1h
                kvdump tail -f orders.cairn --keyspace customers --format jsonl
      """)

  @OptionGroup var common: CommonArguments

  @Flag(name: .shortAndLong, help: "Wait for new commits.")
  var follow = false

  @Option(
    name: .customShort("n"),
    help: ArgumentHelp(
      "Begin with this many existing commits; with 10, or with --since with all, if omitted.", valueName: "number"),
    transform: Int.parse)
  var count: Int?

  @Option(
    help: ArgumentHelp("Print only commits from this commit, duration before now, or date on.", valueName: "when"),
    transform: Since.parse)
  var since: Since?

  @Option(help: ArgumentHelp("Print only changes of this keyspace, or of objects of this entity.", valueName: "name"))
  var keyspace: String?

  func validate() throws {
    guard !follow || common.format != .json else {
      throw ValidationError("-f never ends the JSON document; use --format jsonl.")
    }
  }

  /// The shortest and the longest pause between two looks at the log, in microseconds.
  private static let shortestPause: UInt32 = 500
  private static let longestPause: UInt32 = 50_000

  func write(to output: inout Output) throws {
    var names = LiveNames(at: common.store)
    Interruption.watch()
    try reportMoved(names.names)
    var follower = CommitFollower(at: common.store, after: try start(names.names))
    var listing = Listing("tail", items: "commits", common.format)
    try listing.begin(["store": .string(common.store)], to: &output)
    var shown = 0
    var pause = Self.shortestPause
    repeat {
      let before = follower.lastSequence
      try follower.news { news in
        switch news {
        case .commit(let commit):
          names.update(after: commit)
          let changes = shownChanges(of: commit, names.names)
          if isShown(commit, changes) {
            shown += 1
            try print(commit, changes, names.names, &listing, &output)
          }
        case .missed(let after, let before):
          if listing.isText {
            try output.line(
              "commits after \(after) and before \(before) were compacted, or are damaged")
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

  private static let usualCount = 10

  /// The sequence after which the last `count` commits to show begin. If not all commits are shown, reads ever more of
  /// the log until there are so many commits to show.
  private func start(_ names: ObjectNames?) throws -> CommitSequence {
    guard let count = count ?? (since == nil ? Self.usualCount : nil) else {
      guard case .sequence(let first) = since else { return 0 }
      return try CommitFollower.last(.max, at: common.store).last { $0 < first } ?? 0
    }
    var span = count
    while true {
      let known = try CommitFollower.last(span < .max ? span + 1 : span, at: common.store)
      let start = known.count > span ? known[known.count - span - 1] : 0
      guard keyspace != nil || since != nil else { return start }
      var last = start
      // The sequences before the commits to show.
      var starts: [CommitSequence] = []
      var follower = CommitFollower(at: common.store, after: start)
      try follower.news { news in
        guard case .commit(let commit) = news else { return .next }
        if isShown(commit, shownChanges(of: commit, names)) { starts.append(last) }
        last = commit.sequence
        return Interruption.isRequested ? .stop : .next
      }
      Interruption.endIfRequested()
      if starts.count >= count { return starts.suffix(count).first ?? last }
      if start == 0 { return 0 }
      span = span > .max / 4 ? .max : span * 4
    }
  }

  private func shownChanges(of commit: LoggedCommit, _ names: ObjectNames?) -> [LoggedCommit.Change] {
    guard let keyspace = ObjectNames.keyspace(named: keyspace, names) else { return commit.changes }
    return commit.changes.filter { $0.keyspace == keyspace }
  }

  private func isShown(_ commit: LoggedCommit, _ changes: [LoggedCommit.Change]) -> Bool {
    (keyspace == nil || !changes.isEmpty) && since?.includes(sequence: commit.sequence, time: commit.time) ?? true
  }

  /// Counts the records that may belong to the commits to show, but that compaction has moved.
  private func reportMoved(_ names: ObjectNames?) throws {
    guard let since else { return }
    let keyspace = ObjectNames.keyspace(named: keyspace, names)
    var moved = 0
    try LogContents(at: common.store).forEach { item in
      if case .record(let record, _) = item, record.frame != nil, record.time == nil,
        keyspace == nil || record.keyspaceName == keyspace,
        since.includes(sequence: record.sequence, time: nil) ?? true
      {
        moved += 1
      }
      return Interruption.isRequested ? .stop : .next
    }
    Interruption.endIfRequested()
    if moved > 0 { complain("left out \(moved.of("record")) that compaction has moved") }
  }

  private func print(
    _ commit: LoggedCommit, _ changes: [LoggedCommit.Change], _ names: ObjectNames?, _ listing: inout Listing,
    _ output: inout Output
  ) throws {
    guard listing.isText else {
      return try listing.item(
        [
          "sequence": .number(commit.sequence), "time": .string("\(Timestamp(nanoseconds: commit.time))"),
          "segment": .number(commit.place.segment), "offset": .number(commit.place.offset),
          "length": .number(commit.length), "changes": .array(changes.map { json($0, names) }),
        ], to: &output)
    }
    try output.line(
      Terminal.styled(
        "commit \(commit.sequence)  \(Timestamp(nanoseconds: commit.time))  \(commit.length.grouped) bytes",
        .bold)
    )
    for change in changes {
      text(change, names, &output.bytes)
      try output.endLine()
    }
  }

  private func text(_ change: LoggedCommit.Change, _ names: ObjectNames?, _ bytes: inout [UInt8]) {
    let record = change.record
    let role = names?.role(of: record)
    let name = change.keyspace.map { ObjectNames.title(of: $0, names) } ?? "keyspace \(record.keyspace)"
    let row =
      if let names, let role { names.text(role) } else if case .row(let reference) = record.key {
        "\(name)\t\(reference.literal)"
      } else { name }
    switch (record.kind, record.key) {
    case (.put, .row):
      bytes += Array("  + \(row)\t".utf8)
      if let value = change.value {
        names.append(value, of: role, to: &bytes)
      } else {
        bytes += Array("a value that cannot be read".utf8)
      }
    case (.tombstone, .row): bytes += Array("  - \(row)".utf8)
    default: bytes += Array("    \(record.kind?.name ?? "unknown kind") \(name)".utf8)
    }
  }

  private func json(_ change: LoggedCommit.Change, _ names: ObjectNames?) -> JSON {
    .object(
      [
        "kind": .string(change.record.kind?.name ?? "unknown"),
        "keyspace": change.keyspace.map { .string($0) } ?? .null, "key": change.record.key.json,
        "value": change.value.map { .value($0) } ?? .null, "version": .number(change.record.version),
      ], "meaning", names?.role(of: change.record).flatMap { names?.json($0, change.value) })
  }
}
