import ArgumentParser
import Cairn
import CairnInspection

struct SalvageCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Makes a new store from all readable records of a damaged one.",
    discussion: """
      Each row keeps its newest readable version, with its version number and sequence. Each part that cannot be read \
      is listed with its place and, as far as possible, the rows concerned: the rows whose keys are still readable, or \
      the two rows between which the part lies. A row whose newest version is lost returns to an older version; a row \
      whose deletion is lost reappears. The damaged store is not changed. Exit status 1 if anything was lost.

      Example: kvdump salvage broken.cairn -o saved.cairn
      """)

  @OptionGroup var arguments: NewStoreArguments

  func write(to output: inout Output) throws {
    let format = arguments.common.format
    let report = try Watched.working("salvaging") {
      try Salvage.run(from: arguments.common.store, to: arguments.output, progress: $0)
    }
    let lost = report.losses.filter { !$0.isTornTail }
    if !lost.isEmpty { output.statusIfClosed = .finding }
    var listing = Listing("salvage", items: "losses", format)
    try listing.begin(
      ["store": .string(arguments.common.store), "newStore": .string(arguments.output)], to: &output)
    for loss in report.losses {
      if listing.isText {
        for line in text(loss) { try output.line(line) }
      } else {
        try listing.item(members(loss), to: &output)
      }
    }
    let contents = report.contents
    if listing.isText {
      for remark in report.remarks { try output.line("note: \(remark)") }
      try contents.print("saved", as: "salvage", store: arguments.output, format, to: &output)
    }
    try listing.end(
      [
        "isWhole": .bool(lost.isEmpty), "count": .number(report.losses.count),
        "remarks": .array(report.remarks.map { .string($0) }), "rows": .number(contents.rows),
        "versions": .number(contents.versions), "lastSequence": .number(contents.lastSequence),
        "keyspaces": .array(contents.keyspaces.map { .object(["name": .string($0.name), "rows": .number($0.rows)]) }),
      ], to: &output)
    guard lost.isEmpty else { throw ExitCode.finding }
  }

  private func text(_ loss: Salvage.Loss) -> [String] {
    let place = loss.offset.map { " at \($0)" } ?? ""
    let line =
      loss.isTornTail
      ? "note: \(loss.file)\(place): torn tail, \(loss.words)" : "lost: \(loss.file)\(place): \(loss.words)"
    return [Terminal.styled(escapedForTerminal(line), loss.isTornTail ? .yellow : .red)]
      + loss.keys.map { "      \(escapedForTerminal($0))" }
  }

  private func members(_ loss: Salvage.Loss) -> KeyValuePairs<String, JSON> {
    [
      "severity": .string(loss.isTornTail ? "note" : "lost"), "file": .string(loss.file),
      "offset": loss.offset.map { .number($0) } ?? .null, "words": .string(loss.words),
      "keys": .array(loss.keys.map { .string($0) }),
    ]
  }
}
