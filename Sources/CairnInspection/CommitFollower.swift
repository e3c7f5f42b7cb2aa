package import Cairn

/// One commit as it lies in the log.
package struct LoggedCommit: Sendable {
  package struct Change: Sendable {
    /// nil for a keyspace that neither the log nor the manifest names.
    package let keyspace: String?
    package let record: LogRecord
    /// nil where it cannot be read, or is none.
    package let value: [UInt8]?
  }

  package let sequence: UInt64
  /// Nanoseconds since 1970.
  package let time: UInt64
  package let place: Place
  package let length: Int
  package let changes: [Change]
}

/// Reads the commits of a store as they come, beside its writer.
///
/// Keeps a place in the log and looks from time to time whether it goes on there. What is compacted before it is seen is
/// missed, and told.
package struct CommitFollower {
  package enum News: Sendable {
    case commit(LoggedCommit)
    /// Commits between these two were compacted before they were looked at.
    case missed(after: UInt64, before: UInt64)
  }

  private let path: String
  private var segment: UInt32 = 0
  private var offset = SegmentHeader.size
  /// Of the last commit that was given.
  package private(set) var lastSequence: UInt64
  private var generation: UInt64 = 0
  private var entries: [Manifest.Segment] = []
  private var names: [UInt32: String] = [:]
  private var values = ValueReader()

  /// Begins behind a commit.
  package init(at path: String, after sequence: UInt64) {
    self.path = path
    lastSequence = sequence
  }

  /// The commits that there are by now behind the last one given, oldest first.
  /// - Throws: what ``LogReader`` throws.
  package mutating func news(_ body: (News) throws -> ScanStep) throws {
    let log = try LogReader(at: path)
    guard let manifest = log.manifest else {
      throw StoreError(.damaged, log.manifestProblem ?? "the manifest cannot be read")
    }
    for keyspace in manifest.keyspaces { names[keyspace.id] = keyspace.name }
    for entry in manifest.segments where entry.id >= segment {
      if let end = entry.end, entry.id == segment, offset >= end { continue }
      guard let found = try log.segment(entry), let origin = found.origin, !origin.isCompacted else { continue }
      // A segment that is not the one at hand is read from its beginning.
      var position = entry.id == segment ? offset : SegmentHeader.size
      while let frame = origin.frame(in: found.mapping, at: position, limit: found.limit) {
        guard try give(frame, entry.id, body) == .next else { return }
        position += frame.header.length
        (segment, offset) = (entry.id, position)
      }
    }
  }

  private mutating func give(
    _ frame: FrameView, _ segment: UInt32, _ body: (News) throws -> ScanStep
  ) throws -> ScanStep {
    let header = frame.header
    var changes: [LoggedCommit.Change] = []
    frame.forEachRecord { record, offset in
      values.learn(record)
      if let definition = record.definition { names[record.header.keyspace] = definition.name }
      guard header.sequence > lastSequence else { return }
      let name = names[record.header.keyspace]
      changes.append(
        LoggedCommit.Change(
          keyspace: name,
          record: LogRecord(
            record, at: Place(segment: segment, offset: offset), frame: frame.offset, keyspaceName: name),
          value: record.header.isPut ? try? values.value(of: record) : nil))
    }
    guard header.sequence > lastSequence else { return .next }
    // Between two openings for writing there is a gap that no commit is missing from.
    let gap = header.sequence - lastSequence
    let isMissing = lastSequence > 0 && gap > 1 && gap < Self.leastEpochGap
    let last = lastSequence
    lastSequence = header.sequence
    if isMissing, try body(.missed(after: last, before: header.sequence)) == .stop { return .stop }
    return try body(
      .commit(
        LoggedCommit(
          sequence: header.sequence, time: header.time, place: Place(segment: segment, offset: frame.offset),
          length: header.length, changes: changes)))
  }

  /// FORMAT.md, section 3.
  private static let leastEpochGap: UInt64 = 16_000_000

  /// The sequences of the last commits in the log, at most so many.
  package static func last(_ count: Int, at path: String) throws -> [UInt64] {
    let log = try LogReader(at: path)
    var sequences: [UInt64] = []
    for entry in log.entries {
      guard let segment = try log.segment(entry), let origin = segment.origin, !origin.isCompacted else { continue }
      segment.forEachPiece { piece in
        guard case .frame(let frame) = piece else { return true }
        sequences.append(frame.header.sequence)
        if sequences.count > 2 * count + 1024 { sequences.removeFirst(sequences.count - count) }
        return true
      }
    }
    return sequences.suffix(count)
  }
}
