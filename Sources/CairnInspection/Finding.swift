public import Cairn

/// One problem, or one thing worth knowing, that a ``Verifier`` has found.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// What may be wrong.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The manifest cannot be read.
    case manifest
    /// A segment that the manifest lists is missing.
    case missingSegment = "missing segment"
    /// A segment is shorter than the manifest says.
    case shortSegment = "short segment"
    /// A segment does not begin with a valid header.
    case segmentHeader = "segment header"
    /// A segment's header is that of another segment or store.
    case foreignSegment = "foreign segment"
    /// Commits are missing between two others.
    case gap
    /// A frame is invalid.
    case frame
    /// A record is invalid.
    case record
    /// A row's key is not encoded correctly.
    case key
    /// A value cannot be decompressed.
    case value
    /// Rows of a keyspace that nothing defines.
    case unknownKeyspace = "unknown keyspace"
    /// Bytes after the end of the log: a write that a crash cut off, or that was in progress when the log was read.
    case tornTail = "torn tail"
    /// A checkpoint cannot be used.
    case checkpoint
    /// The store does not open, or a row cannot be read, although nothing in the log is invalid.
    case opening
    /// A file that is not part of the store.
    case otherFile = "other file"
    /// In a Core Data store: the metadata, the schema, or the numbers given out are damaged.
    case head
    /// In a Core Data store: the row of an object is invalid, or does not agree with other rows.
    case object
    /// In a Core Data store: a pack of entries cannot be read, or contains entries that belong in another.
    case pack
    /// In a Core Data store: an entry is invalid, or does not agree with the rows.
    case entry
    /// In a Core Data store: an object refers to one that does not exist, which a delete rule may have left behind.
    case leadsNowhere = "leads nowhere"
  }

  /// How bad a finding is.
  public enum Severity: String, Sendable, Hashable {
    /// Nothing is lost.
    case note
    /// Something that was durable has been lost.
    case damage
  }

  /// What is wrong.
  public let kind: Kind
  /// How bad it is.
  public let severity: Severity
  /// The file's name in the store's directory; for rows of a Core Data store, the keyspace.
  public let file: String
  /// The key of the row in the keyspace, for rows of a Core Data store.
  public let key: Key?
  /// The offset in the file in bytes; nil if it would say no more than the file's name.
  public let offset: Int?
  /// What was found, for people.
  public let words: String

  init(
    kind: Kind, severity: Severity, file: String, key: Key? = nil, offset: Int? = nil, words: String
  ) {
    self.kind = kind
    self.severity = severity
    self.file = file
    self.key = key
    self.offset = offset
    self.words = words
  }

  var isDamage: Bool { severity == .damage }

  /// The finding in one line.
  public var description: String {
    "\(severity): \(file)\(key.map { " at \($0.literal)" } ?? "")\(offset.map { " at \($0)" } ?? ""): \(words)"
  }
}

/// The result of a ``Verifier``.
public struct Verification: Sendable, Hashable {
  /// In the order in which they were found and became certain.
  public internal(set) var findings: [Finding] = []
  /// Segments with a header.
  public internal(set) var segments = 0
  /// Valid frames.
  public internal(set) var frames = 0
  /// Valid records.
  public internal(set) var records = 0
  /// Bytes of valid frames and headers.
  public internal(set) var bytes = 0
  /// The newest commit.
  public internal(set) var lastSequence: CommitSequence = 0
  /// The commit up to which the log is known to have been durable.
  public internal(set) var watermark: CommitSequence = 0

  /// The findings that are more than notes.
  public var damage: [Finding] { findings.filter(\.isDamage) }
}
