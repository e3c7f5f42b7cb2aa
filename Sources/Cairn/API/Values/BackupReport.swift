/// What a backup has done: how many files of the log, with how many bytes.
public struct BackupReport: Sendable, Hashable, CustomStringConvertible {
  /// Some files, and the bytes of the log in them.
  public struct Files: Sendable, Hashable {
    /// Number of files.
    public internal(set) var count = 0
    /// Bytes of the log in these files.
    public internal(set) var bytes = 0

    mutating func add(_ bytes: Int) {
      count += 1
      self.bytes += bytes
    }
  }

  /// The newest commit that the backup contains.
  public internal(set) var lastSequence: CommitSequence = 0
  /// Files that the backup now shares with the store, by hard links.
  public internal(set) var linked = Files()
  /// Files that were copied; of a file that the backup had in part, the bytes that it did not have.
  public internal(set) var copied = Files()
  /// Files that the backup had already, in whole or in part, and the bytes that it had.
  public internal(set) var present = Files()
  /// Files that were removed from the backup, because the store does not need them any more.
  public internal(set) var removed = Files()

  /// The report in words.
  public var description: String {
    let parts = [("linked", linked), ("copied", copied), ("already there", present), ("removed", removed)]
    let words = parts.filter { $0.1.count > 0 }.map { "\($0.1.bytes) bytes in \($0.1.count) files \($0.0)" }
    return "commit \(lastSequence): \(words.isEmpty ? "nothing to copy" : words.joined(separator: ", "))"
  }
}

/// What a restored store contains.
public struct RestoreReport: Sendable, Hashable, CustomStringConvertible {
  /// The newest commit in it.
  public internal(set) var lastSequence: CommitSequence = 0
  /// Segments of its log.
  public internal(set) var segments = 0
  /// Bytes of its log.
  public internal(set) var bytes = 0
  /// Records in its log, each of which has been verified.
  public internal(set) var records = 0

  /// The report in words.
  public var description: String {
    "commit \(lastSequence): \(records) records verified and written, \(bytes) bytes in \(segments) segments"
  }
}

/// How far a backup has come, or the making of a store from one.
public struct BackupProgress: Sendable, Hashable {
  /// Bytes copied so far.
  public internal(set) var bytes = 0
  /// Bytes to copy.
  public internal(set) var totalBytes = 0
}
