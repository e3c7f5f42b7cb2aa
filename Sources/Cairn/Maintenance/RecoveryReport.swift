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
  /// What lies behind the end of the log and is not part of it: what a crash left of writes that were never
  /// acknowledged as durable, or what is behind the commit that was asked for.
  public internal(set) var discarded: [Discarded] = []
  /// Bytes of all that.
  public var discardedBytes: Int { discarded.reduce(0) { $0 + $1.length } }
  /// Where the log ended, if anything was behind it.
  public var discardedAt: Place? { discarded.map(\.place).min() }

  /// Bytes that are not part of the log.
  public struct Discarded: Sendable, Hashable {
    /// Where they were found.
    public let place: Place
    /// How many.
    public let length: Int
    /// The name of the file, in the store's directory, that the first write keeps them in.
    public let keptAs: String
  }

  /// In words.
  public var description: String {
    let origin = checkpoint.map { "the checkpoint at sequence \($0) and " } ?? ""
    var text = "\(rows) rows from \(origin)\(commits) commits in \(segments) segments, up to sequence \(lastSequence)"
    for problem in ignoredCheckpoints { text += "; ignored \(problem)" }
    for part in discarded { text += "; discarded \(part.length) bytes at \(part.place), kept as \(part.keptAs)" }
    return text
  }
}

/// How far opening a store has come.
public struct RecoveryProgress: Sendable, Hashable {
  /// Bytes of the log read.
  public internal(set) var bytes = 0
  /// Bytes of the log to be read, as far as is known.
  public internal(set) var totalBytes = 0
}
