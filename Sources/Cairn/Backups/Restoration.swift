/// Makes a store with an identity of its own from a held log: the same log, at the same places, with the checksums of
/// the new store. Every record is verified before it gets another checksum.
struct Restoration {
  private let held: HeldLog
  private let target: any Directory
  private let manifest: Manifest
  private var report = RestoreReport()
  private var added: [String] = []
  private var isPublished = false

  init(of held: HeldLog, to target: any Directory, random: () -> UInt64) {
    self.held = held
    self.target = target
    var manifest = held.manifest
    manifest.store = UInt128(random()) << 64 | UInt128(random())
    manifest.hashSeed = random()
    manifest.generation = 1
    manifest.compatibleFeatures &= ~Format.backup
    self.manifest = manifest
    report.lastSequence = held.lastSequence
    report.segments = held.segments.count
  }

  /// - Parameter discard: called after a failure, with the names of files that are of no use any more.
  consuming func run(
    _ progress: ((BackupProgress) -> Bool)?, discard: ([String]) -> Void
  ) throws(StoreError) -> RestoreReport {
    var restoration = self
    do throws(StoreError) {
      try restoration.writeSegments(progress)
      try restoration.publish()
    } catch {
      // The manifest may be there even if publishing has failed.
      discard(restoration.isPublished ? [] : restoration.added)
      throw error
    }
    return restoration.report
  }

  private mutating func writeSegments(_ progress: ((BackupProgress) -> Bool)?) throws(StoreError) {
    var meter = CopyMeter(progress, total: held.manifest.segments.reduce(0) { $0 + ($1.end ?? 0) })
    for (entry, segment) in zip(held.manifest.segments, held.segments) {
      let name = Segment.fileName(segment.id)
      let target = target
      added.append(name)
      let file = try StoreError.wrap { () throws(FileError) in try target.create(name, reserving: entry.end ?? 0) }
      defer { file.close() }
      try write(segment, upTo: entry.end ?? 0, to: file, &meter)
      try StoreError.wrap(file.sync)
    }
  }

  private mutating func write(
    _ segment: Segment, upTo end: Int, to file: any File, _ meter: inout CopyMeter
  ) throws(StoreError) {
    var resealing = try SegmentResealing(segment, upTo: end, as: manifest.store)
    var written = 0
    while true {
      let bytes = try resealing.next(CopyMeter.pieceLength)
      guard !bytes.isEmpty else { break }
      let offset = written
      try StoreError.wrap { () throws(FileError) in try file.writeAll(bytes, at: offset) }
      written += bytes.count
      report.bytes += bytes.count
      try meter.add(bytes.count)
    }
    report.records += resealing.records
  }

  /// Makes the files durable, and then the manifest, which makes a store of them.
  private mutating func publish() throws(StoreError) {
    let (target, manifest) = (target, manifest)
    try StoreError.wrap(target.sync)
    let file = ManifestFile(directory: target)
    let staged = try StoreError.wrap { () throws(FileError) in try file.stage(manifest) }
    isPublished = true
    try StoreError.wrap { () throws(FileError) in try file.publish(staged, manifest) }
  }
}
