public import ArgumentParser
public import CairnInspection

struct VerifyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a store, even if it does not open.",
    discussion: """
      Prints each finding on a line: damage, or a note about something harmless, such as a tail torn by a crash. A \
      store may be checked while a process writes to it. Exit status 1 if there is damage.

        --depth quick      the manifest, and the headers of segments and frames
        --depth checksums  also every checksum of the log and of checkpoints
        --depth full       also every key and value, and whether the store opens and
                           all rows can be read; for a Core Data store also
                           whether its rows and entries agree

      Example: kvdump verify orders.cairn && echo sound
      """)

  @OptionGroup var common: CommonArguments

  @Option(help: "How much to check.")
  var depth = Verifier.Depth.full

  func write(to output: inout Output) throws {
    output.statusIfClosed = .closed
    var listing = Listing("verify", items: "findings", common.format)
    var hasBegun = false
    func begin() throws {
      guard !hasBegun else { return }
      hasBegun = true
      try listing.begin(["store": .string(common.store), "depth": .string(depth.rawValue)], to: &output)
    }
    func print(_ finding: Finding) throws {
      Watched.hideProgress()
      if finding.severity == .damage { output.statusIfClosed = .finding }
      try begin()
      if listing.isText {
        let line = escapedForTerminal(finding.description)
        try output.line(Terminal.styled(line, finding.severity == .damage ? .red : .yellow))
      } else {
        try listing.item(finding.members, to: &output)
      }
      try output.flush()
    }
    let verification = try Watched.working { show in try verify(show, print) }
    if verification.damage.isEmpty { output.statusIfClosed = .success }
    try begin()
    if listing.isText { try output.line(summary(verification)) }
    try listing.end(
      [
        "isSound": .bool(verification.damage.isEmpty), "count": .number(verification.findings.count),
        "segments": .number(verification.segments), "frames": .number(verification.frames),
        "records": .number(verification.records), "bytes": .number(verification.bytes),
        "lastSequence": .number(verification.lastSequence), "watermark": .number(verification.watermark),
      ], to: &output)
    guard verification.damage.isEmpty else { throw ExitCode.finding }
  }

  /// Verifies until `print` throws an error.
  private func verify(
    _ show: @escaping (String, Int, Int) -> Bool, _ print: (Finding) throws -> Void
  ) throws -> Verification {
    let failure = Failure()
    let result = Result {
      try Verifier(at: common.store).run(depth) { stage, done, total in
        failure.error == nil && show(stage.title, done, total)
      } found: { finding in
        do {
          if failure.error == nil { try print(finding) }
        } catch {
          failure.error = error
        }
      }
    }
    if let error = failure.error { throw error }
    return try result.get()
  }

  private final class Failure {
    var error: (any Error)?
  }

  private func summary(_ verification: Verification) -> String {
    let seen =
      "\(verification.records.of("record")) in \(verification.frames.of("frame")) of "
      + "\(verification.segments.of("segment")), up to sequence \(verification.lastSequence)"
    let damage = verification.damage.count
    if damage == 0 { return "sound: \(seen)" }
    return "damaged in \(damage.of("place")); valid: \(seen)"
  }
}

extension Verifier.Depth: ExpressibleByArgument {}

extension Verifier.Stage {
  fileprivate var title: String {
    switch self {
    case .log: "reading the log"
    case .rows: "reading the rows"
    case .objects: "comparing objects"
    }
  }
}

extension Finding {
  var members: KeyValuePairs<String, JSON> {
    [
      "severity": .string(severity.rawValue), "kind": .string(kind.rawValue), "file": .string(file),
      "key": key.map { .key($0) } ?? .null, "offset": offset.map { .number($0) } ?? .null,
      "words": .string(words),
    ]
  }
}
