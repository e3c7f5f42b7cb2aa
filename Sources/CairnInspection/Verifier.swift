public import Cairn

/// Reads a store and reports what is wrong with it. Writes nothing and takes no lock. The store may be one that cannot
/// be opened, and another process may be writing to it.
///
///     let verification = try Verifier(at: "orders.cairn").run()
///     for finding in verification.findings { print(finding) }
public struct Verifier: Sendable {
  /// How much of the store is checked.
  public enum Depth: String, Sendable, Hashable, CaseIterable {
    /// The manifest, the headers of segments, and the headers of their frames; segments that are not sealed are read
    /// completely.
    case quick
    /// Also every checksum of the log and of checkpoints.
    case checksums
    /// Also every key and value, whether the store can be opened and all its rows can be read, and, in a Core Data
    /// store, whether its rows and entries agree.
    case full
  }

  private let directory: StoreDirectory

  /// A verifier of the store in a directory.
  public init(at path: String) { self.init(at: path, files: SystemFileLayer()) }

  package init(at path: String, files: any FileLayer) { directory = StoreDirectory(path, files: files) }

  /// A part of the work, for progress.
  public enum Stage: Sendable, Hashable, CaseIterable {
    /// Reads the log. Counts bytes.
    case log
    /// Reads every row through the index, and those of ordered keyspaces three times more. Counts readings of rows.
    case rows
    /// Compares the rows and entries of a Core Data store. Counts rows, and packs of entries.
    case objects
  }

  /// Called now and then with how much of a stage is done and its total, which is an estimate. Returning false ends the
  /// verification with `cancelled`.
  public typealias Progress = (_ stage: Stage, _ done: Int, _ total: Int) -> Bool

  /// Verifies the store. Takes time in proportion to the number of frames (`quick`) or to the length of the log. What a
  /// writer is changing may look like damage; such damage is reported only if it is still there when everything is read
  /// again. Damage in bytes that no writer changes is certain at once.
  ///
  /// - Parameters:
  ///   - depth: How much of the store is checked.
  ///   - progress: Called on this thread.
  ///   - found: Called on this thread with each finding as soon as it is certain: with all those of the result, and in
  ///     that order.
  /// - Throws: `notFound`, `notAStore`, `newerFormat`, `noPermission` or `inputOutput` if the store cannot be examined;
  ///   `cancelled`.
  public func run(
    _ depth: Depth = .full, progress: Progress? = nil, found: (Finding) -> Void = { _ in }
  ) throws(StoreError) -> Verification {
    var findings: [Finding] = []
    var earlier: Set<Finding> = []
    func report(_ finding: Finding) {
      guard !earlier.contains(finding) else { return }
      findings.append(finding)
      found(finding)
    }
    var pass = try VerificationPass.run(directory, depth, progress, report)
    var attempts = 0
    while case let suspected = Set(pass.uncertain.filter(\.isDamage)), !suspected.isEmpty {
      guard attempts < Self.attempts else {
        pass.uncertain.removeAll(where: \.isDamage)
        break
      }
      attempts += 1
      earlier = Set(findings)
      pass = try VerificationPass.run(directory, depth, progress, report)
      guard pass.uncertain.contains(where: suspected.contains) || findings.contains(where: \.isDamage) else { continue }
      pass.uncertain.removeAll { $0.isDamage && !suspected.contains($0) }
      break
    }
    earlier = []
    if pass.uncertain.contains(where: \.kind.isPassing) {
      let again = Set(try VerificationPass.run(directory, .quick, progress) { _ in }.uncertain)
      pass.uncertain.removeAll { $0.kind.isPassing && !again.contains($0) }
    }
    pass.uncertain.forEach(report)
    pass.verification.findings = findings
    return pass.verification
  }

  private static let attempts = 8
}

extension Finding.Kind {
  /// Whether a writer at work may cause such a finding for a moment.
  fileprivate var isPassing: Bool { self == .tornTail || self == .otherFile }

  /// Whether such a finding is about bytes of a segment, and about nothing else.
  fileprivate var isOfBytes: Bool { self == .frame || self == .record || self == .key || self == .value }
}

/// Called now and then with how much of an operation is done and its total, in bytes, rows or records as the operation
/// counts; the total is 0 if it is not known. Returning false ends the operation with `cancelled`.
public typealias InspectionProgress = (_ done: Int, _ total: Int) -> Bool

/// One pass over the store. Reports damage that is certain; a pass that finds no other damage is enough.
struct VerificationPass {
  private let directory: StoreDirectory
  private let depth: Verifier.Depth
  private var walk: LogWalk
  private var hasDamage = false
  /// The figures.
  fileprivate(set) var verification = Verification()
  /// Damage that may only look like it because of a writer at work, and notes.
  fileprivate(set) var uncertain: [Finding] = []

  static func run(
    _ directory: StoreDirectory, _ depth: Verifier.Depth, _ progress: Verifier.Progress?,
    _ report: (Finding) -> Void
  ) throws(StoreError) -> VerificationPass {
    let log = try LogReader(directory)
    let manifest = log.manifest
    var pass = VerificationPass(directory: directory, depth: depth)
    if let problem = log.manifestProblem { pass.find(.manifest, ManifestFile.name, problem) }
    pass.walk.begin(manifest)

    let watermark = try log.watermark
    let total = log.entries.reduce(0) { $0 + ($1.end ?? 0) }
    for entry in log.entries {
      guard progress?(.log, pass.walk.bytes, total) ?? true else {
        throw StoreError(.cancelled, "verifying was cancelled")
      }
      try pass.verify(entry, log, watermark)
      pass.takeFindings(isSealed: entry.end != nil, report)
    }
    pass.checkEnd(watermark, manifest?.chainSequence ?? 0)
    for checkpoint in manifest?.checkpoints ?? [] { try pass.verify(checkpoint) }
    try pass.noteOtherFiles(log)
    pass.add(pass.walk.checkWaiting())
    pass.add(pass.walk.unknownKeyspaces())
    pass.verification.frames = pass.walk.frames
    pass.verification.records = pass.walk.records
    pass.verification.bytes = pass.walk.bytes
    pass.verification.lastSequence = max(pass.walk.lastSequence, manifest?.chainSequence ?? 0)
    pass.verification.watermark = watermark.sequence
    if depth == .full, !pass.hasDamage { try pass.readRows(progress, report) }
    return pass
  }

  private init(directory: StoreDirectory, depth: Verifier.Depth) {
    self.directory = directory
    self.depth = depth
    walk = LogWalk(depth: depth)
  }

  private mutating func find(
    _ kind: Finding.Kind, _ file: String, at offset: Int? = nil, severity: Finding.Severity = .damage, _ words: String
  ) {
    add([Finding(kind: kind, severity: severity, file: file, offset: offset, words: words)])
  }

  private mutating func add(_ findings: [Finding]) {
    uncertain += findings
    hasDamage = hasDamage || findings.contains(where: \.isDamage)
  }

  /// Takes over what the walk has found in a segment. The bytes of a sealed segment never change.
  private mutating func takeFindings(isSealed: Bool, _ report: (Finding) -> Void) {
    let findings = walk.takeFindings()
    let isCertain = { (finding: Finding) in isSealed && finding.kind.isOfBytes }
    findings.filter(isCertain).forEach(report)
    hasDamage = hasDamage || findings.contains(where: \.isDamage)
    uncertain += findings.filter { !isCertain($0) }
  }

  // MARK: The directory

  /// Notes the files that existed before the manifest was read, still exist, and are listed neither by that manifest
  /// nor by the present one.
  private mutating func noteOtherFiles(_ log: LogReader) throws(StoreError) {
    let names = Set(try directory.names()).intersection(log.names)
    let manifests = [log.manifest, directory.manifest].compactMap(\.self)
    let checkpoints = manifests.flatMap(\.checkpoints).map { CheckpointTables.fileName($0.id) }
    let segments = Set(manifests.flatMap(\.segments).map(\.id))
    // A writer creates segments and checkpoints before the manifest lists them.
    let isBeingWritten = directory.isBeingWritten
    var own = Set(
      checkpoints + [ManifestFile.name, "\(ManifestFile.name).new", "LOCK", Reserve.fileName, WatermarkRecord.fileName])
    if manifests.contains(where: \.isBackup) { own.insert(PreviousBackup.markName) }
    for name in names.sorted() where !own.contains(name) {
      if let id = StoreDirectory.segment(named: name) {
        // A segment with a higher id than all others may have been begun since the manifest was read.
        guard let manifest = log.manifest, id < manifest.nextSegment, !segments.contains(id), !isBeingWritten
        else { continue }
        find(.otherFile, name, severity: .note, "the manifest does not list this segment: \(Self.unlisted)")
      } else if name.hasSuffix(".checkpoint") {
        guard !isBeingWritten else { continue }
        find(.otherFile, name, severity: .note, "the manifest does not list this checkpoint: \(Self.unlisted)")
      } else if name.hasSuffix(".moves") {
        continue
      } else if name.hasSuffix(".discarded") {
        find(.otherFile, name, severity: .note, "bytes that a recovery removed from the end of the log and saved")
      } else {
        find(.otherFile, name, severity: .note, "this file is not part of the store")
      }
    }
  }

  private static let unlisted = "an interrupted writer left it, or a writer is writing it"

  // MARK: Checkpoints

  /// Damage to a checkpoint is only a note, since the log contains everything.
  private mutating func verify(_ entry: Manifest.Checkpoint) throws(StoreError) {
    let name = CheckpointTables.fileName(entry.id)
    guard let mapping = try directory.checkpoint(entry.id) else {
      // It may have been replaced since the manifest was read.
      guard directory.manifest.map({ $0.checkpoints.contains(entry) }) ?? true else { return }
      return find(.checkpoint, name, severity: .note, "the checkpoint is missing, so opening takes longer")
    }
    guard depth != .quick else { return }
    do throws(CheckpointTables.Problem) {
      let tables = try unsafe CheckpointTables(mapping.bytes)
      guard mapping.length == entry.length, tables.sequence == entry.sequence, tables.place == entry.place else {
        throw CheckpointTables.Problem("it is not the checkpoint that the manifest lists")
      }
    } catch {
      find(.checkpoint, name, severity: .note, "the checkpoint is unusable, so opening takes longer: \(error.text)")
    }
  }

  // MARK: Segments

  private mutating func verify(
    _ entry: Manifest.Segment, _ log: LogReader, _ watermark: Watermark
  ) throws(StoreError) {
    let name = Segment.fileName(entry.id)
    guard let segment = try log.segment(entry) else {
      find(.missingSegment, name, "the segment is missing")
      walk.expectsGap = true
      return
    }
    let mapping = segment.mapping
    if let end = entry.end, mapping.length < end {
      find(.shortSegment, name, at: mapping.length, "the segment has only \(mapping.length) of \(end) bytes")
    }
    let content = segment.content
    let durable = segment.durable(watermark, content)

    switch segment.header {
    case .newerFormat: throw StoreError(.newerFormat, "\(directory.path)/\(name) was written by a newer version")
    case .unused where durable == 0 && entry.end == nil:
      // A crash may leave any parts of what was being written.
      if content > 0 { find(.tornTail, name, at: 0, severity: .note, "\(content) bytes after the end of the log") }
      walk.endLog()
      return
    case .invalid where durable == 0 && entry.end == nil:
      find(.tornTail, name, at: 0, severity: .note, "\(content) bytes after the end of the log; the header is torn")
      walk.endLog()
      return
    case .unused:
      find(.segmentHeader, name, at: 0, "the header is missing: there are only zeros")
    case .invalid:
      find(.segmentHeader, name, at: 0, SegmentOrigin.problem(mapping))
    case .header(let header):
      if let manifest = log.manifest, header.store != manifest.store {
        find(.foreignSegment, name, at: 32, "the segment belongs to another store")
        walk.expectsGap = true
        return
      }
      guard header.id == entry.id, entry.epoch == 0 || entry.epoch == header.epoch else {
        find(.foreignSegment, name, at: 48, "the header is that of segment \(header.id), epoch \(header.epoch)")
        walk.expectsGap = true
        return
      }
      verification.segments += 1
    }

    guard let origin = segment.origin else {
      walk.expectsGap = true
      return
    }
    let limit = segment.limit
    if origin.isCompacted {
      walk.walkCompacted(mapping, origin, limit: limit)
      return
    }
    walk.walk(mapping, origin, limit: limit, durable: min(durable, limit), content: content, isSealed: entry.end != nil)
    if entry.end != nil, walk.lastSequence != entry.lastSequence, !hasDamage, !walk.hasDamage {
      let words = "the segment ends with commit \(walk.lastSequence), but the manifest says \(entry.lastSequence)"
      find(.gap, name, at: limit, words)
    }
  }

  private mutating func checkEnd(_ watermark: Watermark, _ chainSequence: CommitSequence) {
    let last = max(walk.lastSequence, chainSequence)
    guard !hasDamage, last < watermark.sequence else { return }
    find(
      .gap, walk.file, at: walk.end,
      "the log ends with commit \(walk.lastSequence), but commit \(watermark.sequence) was durable")
  }

  // MARK: The rows

  /// Checks what no single record can show: that the store can be opened, and that every row is where the index says.
  /// Reads the rows of one moment, so that what a writer does meanwhile makes no difference.
  private mutating func readRows(
    _ progress: Verifier.Progress?, _ report: (Finding) -> Void
  ) throws(StoreError) {
    do {
      let store = try Store.openForInspection(at: directory)
      defer { try? store.close() }
      try store.read { snapshot in
        let total = 4 * store.statistics.rows
        var done = 0
        func step() throws(StoreError) {
          done += 1
          guard done % 1024 != 0 || progress?(.rows, min(done, total), total) ?? true else {
            throw StoreError(.cancelled, "verifying was cancelled")
          }
        }
        for keyspace in store.keyspaces {
          try snapshot.forEachHistory(in: keyspace) { records in
            for record in records where record.header.isPut {
              try unsafe snapshot.withValue(of: record) { _ in }
            }
            try step()
            return .next
          }
          if let problem = try snapshot.orderProblem(in: keyspace, step) {
            findOrder(of: keyspace, problem, store.recovery.checkpoint)
          }
        }
        let watch = progress.map { progress in { progress(.objects, $0, $1) } }
        guard let structures = try RowStructures(snapshot, store.keyspaces, progress: watch) else { return }
        try structures.forEachFinding(report)
      }
    } catch let error as StoreError where Self.isNoDamage(error.code) {
      throw error
    } catch {
      find(.opening, ManifestFile.name, "the rows cannot be read: \(error)")
    }
  }

  /// The order of rows is not in the log, so it is the checkpoint's if one was used.
  private mutating func findOrder(of keyspace: Keyspace, _ problem: String, _ sequence: CommitSequence?) {
    let used = directory.manifest?.checkpoints.last { $0.sequence == sequence }
    let file = used.map { CheckpointTables.fileName($0.id) }
    find(file == nil ? .opening : .checkpoint, file ?? ManifestFile.name, "the rows of \(keyspace.name): \(problem)")
  }

  private static func isNoDamage(_ code: StoreError.Code) -> Bool {
    code == .noDescriptors || code == .noMemory || code == .cancelled
  }
}
