public import Cairn

/// Reads a whole store (manifest, headers, every frame, every record and value) and tells what is wrong with it. Writes
/// nothing and takes no lock; the store need not open, and another process may be writing to it.
///
///     let verification = try Verifier(at: "orders.cairn").run()
///     for finding in verification.findings { print(finding) }
public struct Verifier: Sendable {
  private let directory: StoreDirectory

  /// A verifier of the store in a directory.
  public init(at path: String) { self.init(at: path, files: SystemFileLayer()) }

  package init(at path: String, files: any FileLayer) { directory = StoreDirectory(path, files: files) }

  /// Takes time in proportion to the log. What a writer is just changing may look like damage, so damage is believed
  /// only if it is still there when everything is read once more.
  ///
  /// - Throws: `notFound`, `notAStore`, `newerFormat`, `noPermission` or `inputOutput` where nothing can be said.
  public func run() throws(StoreError) -> Verification {
    var verification = try VerificationPass.run(directory)
    guard !verification.damage.isEmpty else { return verification }
    let first = Set(verification.damage)
    verification = try VerificationPass.run(directory)
    verification.findings.removeAll { $0.severity == .damage && !first.contains($0) }
    return verification
  }
}

/// One reading of the store.
struct VerificationPass {
  let directory: StoreDirectory
  var verification = Verification()
  var walk = LogWalk()

  static func run(_ directory: StoreDirectory) throws(StoreError) -> Verification {
    var pass = VerificationPass(directory: directory)
    let names = try pass.directory.names()
    let manifest = try pass.manifest(names)
    pass.noteOtherFiles(names, manifest)
    let entries =
      manifest?.segments ?? names.compactMap(StoreDirectory.segment(named:)).map { Manifest.Segment(id: $0) }
    pass.walk.begin(manifest)

    let watermark = try pass.watermark(entries, manifest)
    for entry in entries { try pass.verify(entry, manifest, watermark) }
    pass.checkEnd(watermark, manifest?.chainSequence ?? 0)
    for checkpoint in manifest?.checkpoints ?? [] { try pass.verify(checkpoint) }
    pass.verification.findings += pass.walk.checkWaiting()
    pass.verification.findings += pass.walk.unknownKeyspaces()
    pass.verification.frames = pass.walk.frames
    pass.verification.records = pass.walk.records
    pass.verification.bytes = pass.walk.bytes
    pass.verification.lastSequence = pass.walk.lastSequence
    pass.verification.watermark = watermark.sequence
    return pass.verification
  }

  private init(directory: StoreDirectory) { self.directory = directory }

  private mutating func find(
    _ kind: Finding.Kind, _ file: String, at offset: Int? = nil, severity: Finding.Severity = .damage, _ words: String
  ) {
    verification.findings.append(Finding(kind: kind, severity: severity, file: file, offset: offset, words: words))
  }

  // MARK: The manifest and the directory

  private mutating func manifest(_ names: [String]) throws(StoreError) -> Manifest? {
    let isStore = names.contains { StoreDirectory.segment(named: $0) != nil }
    guard let bytes = try directory.manifestBytes() else {
      guard isStore else { throw StoreError(.notAStore, "there is no manifest at \(directory.path)") }
      find(.manifest, ManifestFile.name, "the manifest is missing")
      return nil
    }
    do throws(Manifest.Problem) {
      return try unsafe bytes.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
    } catch {
      switch error {
      case .newerFormat: throw StoreError(.newerFormat, "\(directory.path) was written by a newer version")
      case .foreign:
        guard isStore else {
          throw StoreError(.notAStore, "\(directory.path) holds a MANIFEST that is none of Cairn's")
        }
        find(.manifest, ManifestFile.name, "the manifest does not begin as one")
      case .damaged(let what): find(.manifest, ManifestFile.name, "the manifest is damaged: \(what)")
      }
      return nil
    }
  }

  private mutating func noteOtherFiles(_ names: [String], _ manifest: Manifest?) {
    let checkpoints = (manifest?.checkpoints ?? []).map { CheckpointTables.fileName($0.id) }
    let own = Set(checkpoints + [ManifestFile.name, "\(ManifestFile.name).new", "LOCK", Reserve.fileName])
    for name in names where !own.contains(name) {
      if let id = StoreDirectory.segment(named: name) {
        // One above all others may have been begun since the manifest was read.
        guard let manifest, id < manifest.nextSegment, !manifest.segments.contains(where: { $0.id == id })
        else { continue }
        find(.otherFile, name, severity: .note, "the manifest does not list this segment, so it is ignored")
      } else if name.hasSuffix(".checkpoint") {
        find(.otherFile, name, severity: .note, "the manifest does not list this checkpoint, so it is ignored")
      } else if name.hasSuffix(".moves") {
        continue
      } else if name.hasSuffix(".discarded") {
        find(.otherFile, name, severity: .note, "bytes that a recovery cut off the end of the log and kept")
      } else {
        find(.otherFile, name, severity: .note, "this file is no part of the store")
      }
    }
  }

  // MARK: Checkpoints

  /// Nothing is lost with a checkpoint: the log has everything.
  private mutating func verify(_ entry: Manifest.Checkpoint) throws(StoreError) {
    let name = CheckpointTables.fileName(entry.id)
    guard let mapping = try directory.checkpoint(entry.id) else {
      return find(.checkpoint, name, severity: .note, "the checkpoint is missing, so opening takes longer")
    }
    do throws(CheckpointTables.Problem) {
      let tables = try unsafe CheckpointTables(mapping.bytes)
      guard mapping.length == entry.length, tables.sequence == entry.sequence, tables.place == entry.place else {
        throw CheckpointTables.Problem("it is not the one that the manifest lists")
      }
    } catch {
      find(.checkpoint, name, severity: .note, "the checkpoint is of no use, so opening takes longer: \(error.text)")
    }
  }

  // MARK: Segments

  /// The highest watermark that any valid structure names in the segments that are not sealed. What is said in sealed
  /// ones lies before it.
  private func watermark(_ entries: [Manifest.Segment], _ manifest: Manifest?) throws(StoreError) -> Watermark {
    var highest = Watermark.none
    for entry in entries where entry.end == nil {
      guard let mapping = try directory.segment(entry.id, isSealed: false) else { continue }
      if case .header(let header) = unsafe SegmentHeader.read(mapping.bytes) { highest.raise(to: header.watermark) }
      guard let origin = SegmentOrigin(mapping, entry, manifest) else { continue }
      origin.forEachFrame(in: mapping, from: SegmentHeader.size) { highest.raise(to: $0.header.watermark) }
    }
    return highest
  }

  private mutating func verify(
    _ entry: Manifest.Segment, _ manifest: Manifest?, _ watermark: Watermark
  ) throws(StoreError) {
    let name = Segment.fileName(entry.id)
    guard let mapping = try directory.segment(entry.id, isSealed: entry.end != nil) else {
      find(.missingSegment, name, "the segment is missing")
      walk.expectsGap = true
      return
    }
    if let end = entry.end, mapping.length < end {
      find(.shortSegment, name, at: mapping.length, "the segment has \(mapping.length) bytes of \(end)")
    }
    // Whatever is invalid below this was valid once.
    let content = mapping.endOfContent(from: 0)
    let durable =
      if let end = entry.end {
        min(end, mapping.length)
      } else if entry.id == watermark.place.segment {
        watermark.place.offset
      } else {
        entry.id < watermark.place.segment ? content : 0
      }

    switch unsafe SegmentHeader.read(mapping.bytes) {
    case .newerFormat: throw StoreError(.newerFormat, "\(directory.path)/\(name) was written by a newer version")
    case .unused where durable == 0:
      // A crash leaves parts of what was being written in any order.
      if content > 0 { find(.tornTail, name, at: 0, severity: .note, "\(content) bytes behind the end of the log") }
      walk.endLog()
      return
    case .invalid where durable == 0:
      find(.tornTail, name, at: 0, severity: .note, "\(content) bytes behind the end of the log; the header is torn")
      walk.endLog()
      return
    case .unused:
      find(.segmentHeader, name, at: 0, "the header is gone: there are only zeros")
    case .invalid:
      find(.segmentHeader, name, at: 0, SegmentOrigin.problem(mapping))
    case .header(let header):
      if let manifest, header.store != manifest.store {
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

    guard let origin = SegmentOrigin(mapping, entry, manifest) else {
      walk.expectsGap = true
      return
    }
    let limit = min(entry.end ?? mapping.length, mapping.length)
    if origin.isCompacted {
      walk.walkCompacted(mapping, origin, limit: limit)
      verification.findings += walk.takeFindings()
      return
    }
    walk.walk(mapping, origin, limit: limit, durable: min(durable, limit), content: content, isSealed: entry.end != nil)
    verification.findings += walk.takeFindings()
    if entry.end != nil, walk.lastSequence != entry.lastSequence, verification.damage.isEmpty {
      let words = "the segment ends with commit \(walk.lastSequence), the manifest says \(entry.lastSequence)"
      find(.gap, name, at: limit, words)
    }
  }

  private mutating func checkEnd(_ watermark: Watermark, _ chainSequence: UInt64) {
    let last = max(walk.lastSequence, chainSequence)
    guard verification.damage.isEmpty, last < watermark.sequence else { return }
    find(
      .gap, walk.file, at: walk.end,
      "the log ends with commit \(walk.lastSequence), and commit \(watermark.sequence) was durable")
  }
}

extension Watermark {
  fileprivate mutating func raise(to other: Watermark) {
    sequence = max(sequence, other.sequence)
    place = max(place, other.place)
  }
}
