/// Makes a backup of a held log in a directory, or brings the one that is there up to date.
///
/// Files of the log only ever grow or disappear, and a sealed one does not change at all. So the previous backup stays
/// valid until the manifest is replaced: files are added, and bytes are added behind the end of those that the previous
/// backup has in part; what only the previous backup needs is removed afterwards.
struct Backup {
  private let held: HeldLog
  private let source: any Directory
  private let target: any Directory
  private let previous: PreviousBackup
  private var linksFiles: Bool
  private var report = BackupReport()
  /// Segments of which the backup does not have all bytes yet, and where the missing ones begin.
  private var incomplete: [(segment: Segment, end: Int, start: Int)] = []
  /// Files that the previous backup does not have.
  private var added: [String] = []
  private var isPublished = false

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
      for name in try target.list() where name.hasSuffix(".segment") { try target.remove(name) }
    }
  }

  /// Finds out what the backup does not have.
  private mutating func compare() throws(StoreError) {
    for (entry, segment) in zip(held.manifest.segments, held.segments) {
      let end = entry.end ?? 0
      let start = try previous.length(of: segment, in: target)
      if start > 0 { report.present.add(start) }
      if start < end { incomplete.append((segment, end, start)) }
    }
  }

  /// Links all files that it can, as soon as possible: compaction may remove them.
  private mutating func link() {
    incomplete.removeAll { segment, end, start in
      guard linksFiles, start == 0, held.sealed.contains(segment.id) else { return false }
      let name = Segment.fileName(segment.id)
      added.insert(name, at: 0)
      // A file of an unfinished backup, or a damaged one.
      target.removeIfPossible(name)
      do throws(FileError) {
        try target.link(name, from: source)
      } catch {
        // Nothing but this file is missing if compaction has removed it; otherwise the file system cannot link.
        if error.cause != .notFound { linksFiles = false }
        return false
      }
      report.linked.add(end)
      return true
    }
  }

  private mutating func copy(_ progress: ((BackupProgress) -> Bool)?) throws(StoreError) {
    var meter = CopyMeter(progress, total: incomplete.reduce(0) { $0 + $1.end - $1.start })
    for (segment, end, start) in incomplete {
      let file = try open(segment, reserving: end, isNew: start == 0)
      defer { file.close() }
      for offset in stride(from: start, to: end, by: CopyMeter.pieceLength) {
        let count = min(CopyMeter.pieceLength, end - offset)
        try StoreError.wrap { () throws(FileError) in
          try unsafe file.write(UnsafeRawBufferPointer(start: segment.mapping.base + offset, count: count), at: offset)
        }
        try meter.add(count)
      }
      try StoreError.wrap(file.sync)
      report.copied.add(end - start)
    }
  }

  private mutating func open(_ segment: Segment, reserving size: Int, isNew: Bool) throws(StoreError) -> any File {
    let name = Segment.fileName(segment.id)
    let target = target
    if isNew { added.insert(name, at: 0) }
    return try StoreError.wrap { () throws(FileError) in
      if isNew { return try target.create(name, reserving: size) }
      let file = try target.open(name, .readWrite)
      try file.reserve(size)
      return file
    }
  }

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
    isPublished = true
    let published = manifest
    try StoreError.wrap { () throws(FileError) in
      try ManifestFile(directory: target).replace(with: published)
    }
  }

  /// Removes the segments that the backup does not list any more. Those that cannot be removed do no harm.
  private mutating func removeUnlisted() {
    let listed = Set(held.segments.map { Segment.fileName($0.id) })
    let old = previous.manifest?.segments ?? []
    for entry in old where !listed.contains(Segment.fileName(entry.id)) { report.removed.add(entry.end ?? 0) }
    do throws(FileError) {
      for name in try target.list() where name.hasSuffix(".segment") && !listed.contains(name) {
        try target.remove(name)
      }
    } catch {}
  }
}
