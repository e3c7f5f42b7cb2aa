/// What opening a store found and did.
public struct RecoveryReport: Sendable, CustomStringConvertible {
  /// Segments that held commits.
  public internal(set) var segments = 0
  /// The commit of the checkpoint that the log was read from; nil if it was read from its beginning.
  public internal(set) var checkpoint: UInt64?
  /// Checkpoints that were of no use, and why.
  public internal(set) var ignoredCheckpoints: [String] = []
  /// Bytes of frames read from the log.
  public internal(set) var replayedBytes = 0
  /// Commits read from the log.
  public internal(set) var commits = 0
  /// Records read from the log.
  public internal(set) var records = 0
  /// Rows there are.
  public internal(set) var rows = 0
  /// The newest commit found.
  public internal(set) var lastSequence: UInt64 = 0
  /// How far the log was known to be durable. Damage behind this cannot be told from a tail torn by a crash.
  public internal(set) var watermark: UInt64 = 0
  /// Bytes behind the end of the log that are not part of it: what a crash left of writes that were never acknowledged
  /// as durable.
  public internal(set) var discardedBytes = 0
  /// Where the log ended, if anything was behind it. The first write keeps those bytes aside in a file of their own.
  public internal(set) var discardedAt: Place?

  /// In words.
  public var description: String {
    let origin = checkpoint.map { "the checkpoint at sequence \($0) and " } ?? ""
    var text = "\(rows) rows from \(origin)\(commits) commits in \(segments) segments, up to sequence \(lastSequence)"
    for problem in ignoredCheckpoints { text += "; ignored \(problem)" }
    if let discardedAt { text += "; discarded \(discardedBytes) bytes at \(discardedAt)" }
    return text
  }
}
