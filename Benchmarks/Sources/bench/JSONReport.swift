import Foundation

/// The report as JSON, for other programs.
struct JSONReport: Encodable {
  private let rows: UInt64
  private let figures: [Figure]
  private let footprints: [Size]
  private let ratios: [Ratio]
  private let complaints: [String]

  private struct Figure: Encodable {
    let workload: String
    let engine: String
    let rows: Int
    let threads: String
    let durability: String
    let unit: String
    let figure: Spread
    let cairnRatio: Spread?
    let writesThousandsPerSecond: Spread?
    let bytesRead: Int?
    let checksum: String?
  }

  private struct Size: Encodable {
    let engine: String
    let round: Int
    let bytesAfterFill: Int
    let bytesAtEnd: Int
    let memoryGrowth: Int?
  }

  private struct Ratio: Encodable {
    let workload: String
    let against: String
    let goal: Double
    let ratio: Spread
  }

  init(_ summary: Summary, _ verification: Verification) {
    rows = summary.rows
    figures = summary.lines.map { line in
      Figure(
        workload: line.workload.rawValue, engine: line.engine.name, rows: line.rows,
        threads: line.workload.threadsLabel, durability: line.workload.durability, unit: line.workload.unit.rawValue,
        figure: line.figure, cairnRatio: line.ratio, writesThousandsPerSecond: line.besideWrites,
        bytesRead: line.reading?.bytes,
        checksum: line.workload.comparesChecksums ? line.reading.map { String($0.checksum, radix: 16) } : nil)
    }
    footprints = summary.outcome.footprints.map {
      Size(
        engine: $0.engine.name, round: $0.round + 1, bytesAfterFill: $0.bytesAfterFill, bytesAtEnd: $0.bytesAtEnd,
        memoryGrowth: $0.memoryGrowth)
    }
    ratios = Goal.all(summary).compactMap { goal in
      goal.ratio.map { Ratio(workload: goal.workload, against: goal.against, goal: goal.target, ratio: $0) }
    }
    complaints = verification.complaints
  }

  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
