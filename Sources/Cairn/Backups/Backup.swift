/// Makes a backup of a held log in a directory, or brings the one that is there up to date.
///
/// Files of the log only ever grow or disappear, and a sealed one does not change at all. So the previous backup stays
/// valid until the manifest is replaced: files are added, bytes are added after the end of those that the previous
/// backup has in part, and files are replaced by longer ones; what only the previous backup needs is removed
/// afterwards.
struct Backup {
  private let held: HeldLog
  private let source: any Directory
  private let target: any Directory
  private let previous: PreviousBackup
  private var linksFiles: Bool
  private var report = BackupReport()
  private var incomplete: [Missing] = []
  /// Files that the previous backup does not have.
  private var added: [String] = []
  private var isPublished = false

  /// The bytes of a segment that the backup does not have yet.
  private struct Missing {
    let segment: Segment
    let start: Int
    let end: Int
  }

  init(
    of held: HeldLog, from source: any Directory, to target: any Directory, _ previous: PreviousBackup, linksFiles: Bool
  ) {
    self.held = held
    self.source = source
    self.target = target
    self.previous = previous
    self.linksFiles = linksFiles
    report.lastSequence = held.lastSequence
  }

  /// - Parameters:
  ///   - discard: called after a failure, with the names of files that are of no use any more.
  ///   - sync: makes the held log durable.
  consuming func run(
    _ progress: ((BackupProgress) -> Bool)?, discard: ([String]) -> Void, sync: () throws(StoreError) -> Void
  ) throws(StoreError) -> BackupReport {
    var backup = self
    do throws(StoreError) {
      try sync()
      try backup.markIfNew()
      try backup.compare()
      backup.link()
      try backup.copy(progress)
      try backup.publish()
    } catch {
      // The manifest may be the new one even if publishing has failed.
      discard(backup.isPublished ? [] : backup.added)
      throw error
    }
    backup.removeUnlisted()
    return backup.report
  }

  /// Marks a directory without a backup, so that files without a manifest are known to be an unfinished backup; removes
  /// those of an earlier one.
  private mutating func markIfNew() throws(StoreError) {
    guard previous.manifest == nil else { return }
    added.append(PreviousBackup.markName)
    let target = target
    try StoreError.wrap { () throws(FileError) in
      let mark = try target.create(PreviousBackup.markName, reserving: 0)
      mark.close()
      try target.sync()
      for name in try target.list() where Self.isSegment(name) { try target.remove(name) }
    }
  }

  /// Finds out what the backup does not have.
  private mutating func compare() throws(StoreError) {
    for (entry, segment) in zip(held.manifest.segments, held.segments) {
      let end = entry.end ?? 0
      let start = try previous.length(of: segment, upTo: end, in: target)
      if start < end {
        incomplete.append(Missing(segment: segment, start: start, end: end))
      } else {
        report.present.add(end)
      }
    }
  }

  /// Links all files that it can, as soon as possible: compaction may remove them. A link also takes the place of a
  /// file that the backup has in part.
  private mutating func link() {
    var left: [Missing] = []
    for missing in incomplete where !link(missing) { left.append(missing) }
    incomplete = left
  }

  private mutating func link(_ missing: Missing) -> Bool {
    guard linksFiles, held.sealed.contains(missing.segment.id) else { return false }
    let (source, target, name) = (source, target, Segment.fileName(missing.segment.id))
    do throws(FileError) {
      try put(missing.segment) { (newName) throws(FileError) in
        // It may be left from a backup that was not finished.
        target.removeIfPossible(newName)
        try target.link(name, in: source, as: newName)
      }
    } catch {
      // Nothing but this file is missing if compaction has removed it; otherwise the file system cannot link.
      if error.cause != .notFound { linksFiles = false }
      return false
    }
    report.linked.add(missing.end)
    return true
  }

  private mutating func copy(_ progress: ((BackupProgress) -> Bool)?) throws(StoreError) {
    var meter = CopyMeter(progress, total: incomplete.reduce(0) { $0 + $1.end - $1.start })
    for missing in incomplete {
      if missing.start > 0 {
        let file = try open(missing)
        try copy(missing, to: file, &meter)
        report.present.add(missing.start)
      } else {
        let file = try create(missing)
        try copy(missing, to: file, &meter)
        do throws(FileError) { try put(missing.segment) { _ in } } catch { throw StoreError(error) }
      }
      report.copied.add(missing.end - missing.start)
    }
  }

  private func open(_ missing: Missing) throws(StoreError) -> any File {
    try StoreError.wrap { () throws(FileError) in
      try target.open(Segment.fileName(missing.segment.id), .readWrite)
    }
  }

  private mutating func create(_ missing: Missing) throws(StoreError) -> any File {
    let (target, name) = (target, Self.newName(missing.segment))
    added.insert(name, at: 0)
    return try StoreError.wrap { () throws(FileError) in try target.create(name, reserving: missing.end) }
  }

  private func copy(_ missing: Missing, to file: any File, _ meter: inout CopyMeter) throws(StoreError) {
    defer { file.close() }
    try StoreError.wrap { () throws(FileError) in try file.reserve(missing.end) }
    for offset in stride(from: missing.start, to: missing.end, by: CopyMeter.pieceLength) {
      let count = min(CopyMeter.pieceLength, missing.end - offset)
      try StoreError.wrap { () throws(FileError) in
        let bytes = unsafe UnsafeRawBufferPointer(start: missing.segment.mapping.base + offset, count: count)
        try unsafe file.write(bytes, at: offset)
      }
      try meter.add(count)
    }
    try StoreError.wrap(file.sync)
  }

  // MARK: Names

  private static func isSegment(_ name: String) -> Bool { name.hasSuffix(".segment") || name.hasSuffix(".segment.new") }

  /// The name of a segment's file until it is complete.
  private static func newName(_ segment: Segment) -> String { "\(Segment.fileName(segment.id)).new" }

  /// Puts a segment's file, which `make` makes under another name, in its place.
  private mutating func put(_ segment: Segment, _ make: (String) throws(FileError) -> Void) throws(FileError) {
    let (name, newName) = (Segment.fileName(segment.id), Self.newName(segment))
    if !previous.lists(segment.id) { added.insert(name, at: 0) }
    try make(newName)
    try target.rename(newName, to: name)
    // Renaming does nothing if both names lead to the same file already.
    target.removeIfPossible(newName)
  }

  // MARK: The end

  /// Makes the files durable, and then the manifest that lists them.
  private mutating func publish() throws(StoreError) {
    var manifest = held.manifest
    manifest.compatibleFeatures |= Format.backup
    if let previous = previous.manifest {
      manifest.generation = previous.generation
      guard manifest != previous else { return }
      manifest.generation = max(held.manifest.generation, previous.generation + 1)
    }
    let target = target
    try StoreError.wrap(target.sync)
    let (file, published) = (ManifestFile(directory: target), manifest)
    let staged = try StoreError.wrap { () throws(FileError) in try file.stage(published) }
    isPublished = true
    try StoreError.wrap { () throws(FileError) in try file.publish(staged, published) }
  }

  /// Removes the segments that the backup does not list any more. Those that cannot be removed do no harm.
  private mutating func removeUnlisted() {
    let listed = Set(held.segments.map { Segment.fileName($0.id) })
    let old = previous.manifest?.segments ?? []
    for entry in old where !listed.contains(Segment.fileName(entry.id)) { report.removed.add(entry.end ?? 0) }
    do throws(FileError) {
      for name in try target.list() where Self.isSegment(name) && !listed.contains(name) {
        try target.remove(name)
      }
    } catch {}
  }
}
