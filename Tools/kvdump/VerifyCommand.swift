import ArgumentParser
import CairnInspection

struct VerifyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every byte of a store, also one that does not open.",
    discussion: """
      Reads the manifest, every segment's header, every frame, record and value. Prints each finding: damage, or a \
      note about something that is no harm, such as a tail torn by a crash. Exit status 1 if there is damage.

      Example: kvdump verify orders.cairn && echo sound
      """)

  @OptionGroup var common: CommonArguments

  func write(to output: inout Output) throws {
    let verification = try Verifier(at: common.store).run()
    switch common.format {
    case .text:
      for finding in verification.findings { try output.line(escapedForTerminal(finding.description)) }
      try output.line(summary(verification))
    case .json:
      try output.write(json(verification, findings: verification.findings.map { .object(members($0)) }), .json)
    case .jsonl:
      for finding in verification.findings { try output.write(.object(members(finding)), .jsonl) }
      try output.write(json(verification, findings: nil), .jsonl)
    }
    guard verification.damage.isEmpty else { throw ExitCode(1) }
  }

  private func summary(_ verification: Verification) -> String {
    let seen =
      "\(verification.records.grouped) records in \(verification.frames.grouped) frames of "
      + "\(verification.segments.grouped) segments, up to sequence \(verification.lastSequence.grouped)"
    let damage = verification.damage.count
    if damage == 0 { return "sound: \(seen)" }
    return "damaged in \(damage.grouped) \(damage == 1 ? "place" : "places"); valid are \(seen)"
  }

  private func members(_ finding: Finding) -> KeyValuePairs<String, JSON> {
    [
      "schema": .string("kvdump.finding"), "schemaVersion": .number(1 as Int),
      "severity": .string(finding.severity.rawValue), "kind": .string(finding.kind.rawValue),
      "file": .string(finding.file), "offset": finding.offset.map { .number($0) } ?? .null,
      "words": .string(finding.words),
    ]
  }

  private func json(_ verification: Verification, findings: [JSON]?) -> JSON {
    .object([
      "schema": .string("kvdump.verify"), "schemaVersion": .number(1 as Int), "store": .string(common.store),
      "isSound": .bool(verification.damage.isEmpty), "segments": .number(verification.segments),
      "frames": .number(verification.frames), "records": .number(verification.records),
      "bytes": .number(verification.bytes), "lastSequence": .number(verification.lastSequence),
      "watermark": .number(verification.watermark),
      "findings": findings.map { .array($0) } ?? .number(verification.findings.count),
    ])
  }
}
