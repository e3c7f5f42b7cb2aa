/// Counts of the clients' requests and of the answers to them.
struct Tally: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case transfers, accounts, totals
  }

  var latencies: [Kind: [Duration]] = [:]
  /// Transfers that the service has acknowledged.
  var acknowledged: [TransferReply] = []
  /// Transfers refused because the balance was too low.
  var uncovered = 0
  /// Transfers that the service gave up because other requests had changed the accounts during every attempt.
  var contended = 0
  var tornReads = 0
  /// Requests that the service refused because its database was away.
  var unavailable = 0

  mutating func add(_ other: Tally) {
    latencies.merge(other.latencies, uniquingKeysWith: +)
    acknowledged += other.acknowledged
    uncovered += other.uncovered
    contended += other.contended
    tornReads += other.tornReads
    unavailable += other.unavailable
  }
}
