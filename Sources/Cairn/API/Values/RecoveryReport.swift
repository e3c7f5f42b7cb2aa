/// What opening a store found and did.
public struct RecoveryReport: Sendable, CustomStringConvertible {
  /// Number of segments in the log.
  public internal(set) var segments = 0
  /// The commit of the checkpoint that the log was read from; nil if it was read from its beginning.
  public internal(set) var checkpoint: CommitSequence?
  /// Checkpoints that could not be used, and why.
  public internal(set) var ignoredCheckpoints: [String] = []
  /// Bytes of frames read from the log.
  public internal(set) var replayedBytes = 0
  /// Commits read from the log.
  public internal(set) var commits = 0
  /// Records read from the log.
  public internal(set) var records = 0
  /// Number of rows in the store.
  public internal(set) var rows = 0
  /// The newest commit found.
  public internal(set) var lastSequence: CommitSequence = 0
  /// The commit up to which the log was known to be durable. Damage after it cannot be distinguished from a tail
  /// torn by a crash.
  public internal(set) var watermark: CommitSequence = 0
  /// Bytes after the end of the log that are not part of it: writes that a crash interrupted before they were
  /// acknowledged as durable, or the bytes after the requested commit.
  public internal(set) var discarded: [Discarded] = []
  /// Total length of `discarded`, in bytes.
  public var discardedBytes: Int { discarded.reduce(0) { $0 + $1.length } }
  /// The end of the log, if there were bytes after it.
  public var discardedAt: Place? { discarded.map(\.place).min() }

  /// Bytes that are not part of the log.
  public struct Discarded: Sendable, Hashable {
    /// The place of the first byte.
    public let place: Place
    /// Length in bytes.
    public let length: Int
    /// The name of the file, in the store's directory, to which the first write saves them.
    public let keptAs: String
  }

  /// The report in words.
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
