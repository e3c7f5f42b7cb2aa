/// What clients have done, and what they were answered.
struct Tally: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case transfers, accounts, totals
  }

  var latencies: [Kind: [Duration]] = [:]
  /// Transfers that the service says it has made.
  var acknowledged: [TransferReply] = []
  /// Transfers for which the balance was too low.
  var uncovered = 0
  /// Transfers that the service gave up, because others had changed the accounts at every attempt.
  var contended = 0
  var tornReads = 0

  mutating func add(_ other: Tally) {
    latencies.merge(other.latencies, uniquingKeysWith: +)
    acknowledged += other.acknowledged
    uncovered += other.uncovered
    contended += other.contended
    tornReads += other.tornReads
  }
}
