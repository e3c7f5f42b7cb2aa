public import Cairn

/// One problem, or one thing worth knowing, that a ``Verifier`` has found.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// What may be wrong.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The manifest cannot be read.
    case manifest
    /// A segment that the manifest lists isn't there.
    case missingSegment = "missing segment"
    /// A segment is shorter than the manifest says.
    case shortSegment = "short segment"
    /// The first bytes of a segment are not its header.
    case segmentHeader = "segment header"
    /// A segment's header is that of another segment or store.
    case foreignSegment = "foreign segment"
    /// Commits are missing between two that are there.
    case gap
    /// A frame is invalid.
    case frame
    /// A record is invalid.
    case record
    /// A row's key is no encoded reference.
    case key
    /// A value cannot be decompressed.
    case value
    /// Rows of a keyspace that nothing defines.
    case unknownKeyspace = "unknown keyspace"
    /// Bytes behind the end of the log: a write that a crash, or the moment of looking, cut off.
    case tornTail = "torn tail"
    /// A checkpoint cannot be used.
    case checkpoint
    /// The store does not open, or a row cannot be read, although nothing in the log is invalid.
    case opening
    /// A file that is no part of the store.
    case otherFile = "other file"
    /// Of a store of Core Data: its metadata, its schema, or the numbers given out.
    case head
    /// Of a store of Core Data: the row of an object is none, or does not agree with others.
    case object
    /// Of a store of Core Data: a pack of entries cannot be read, or has entries of another.
    case pack
    /// Of a store of Core Data: an entry is none, or does not agree with the rows.
    case entry
    /// Of a store of Core Data: an object refers to one that does not exist, which a delete rule may have left.
    case leadsNowhere = "leads nowhere"
  }

  /// How bad a finding may be.
  public enum Severity: String, Sendable, Hashable {
    /// Nothing is lost.
    case note
    /// Something that was durable isn't there any more.
    case damage
  }

  /// What is wrong.
  public let kind: Kind
  /// How bad it is.
  public let severity: Severity
  /// The file's name in the store's directory; of rows of a store of Core Data, the keyspace.
  public let file: String
  /// Which row of the keyspace, of rows of a store of Core Data.
  public let key: Reference?
  /// Bytes from the beginning of the file, where that says more than the file alone.
  public let offset: Int?
  /// What was found, for people.
  public let words: String

  init(
    kind: Kind, severity: Severity, file: String, key: Reference? = nil, offset: Int? = nil, words: String
  ) {
    self.kind = kind
    self.severity = severity
    self.file = file
    self.key = key
    self.offset = offset
    self.words = words
  }

  /// All of it in a line.
  public var description: String {
    "\(severity): \(file)\(key.map { " at \($0.literal)" } ?? "")\(offset.map { " at \($0)" } ?? ""): \(words)"
  }
}

/// What a ``Verifier`` has seen.
public struct Verification: Sendable, Hashable {
  /// In the order of the log.
  public internal(set) var findings: [Finding] = []
  /// Segments that hold a header.
  public internal(set) var segments = 0
  /// Valid frames.
  public internal(set) var frames = 0
  /// Valid records.
  public internal(set) var records = 0
  /// Bytes of valid frames and headers.
  public internal(set) var bytes = 0
  /// The newest commit.
  public internal(set) var lastSequence: UInt64 = 0
  /// How far the log is known to have been durable.
  public internal(set) var watermark: UInt64 = 0

  /// The findings that are more than notes.
  public var damage: [Finding] { findings.filter { $0.severity == .damage } }
}
