import CCairnPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Opens the store at a path: examines the directory, takes the lock, and recovers.
struct StoreOpening {
  let path: String
  let options: StoreOptions
  let environment: Environment

  /// How often a reader beside a writer reads the log before it reports damage.
  static let attempts = 8

  func open() throws(StoreError) -> Store {
    if options.access == .readOnly { return try openForReading() }
    guard (1 << 16...1 << 30).contains(options.segmentSize) else {
      throw StoreError(.invalidArgument, "a segment must have 64 KiB to 1 GiB, not \(options.segmentSize) bytes")
    }
    let directory = try openOrCreate()
    // Before anything is changed: is it a store, and one that this version can write?
    if try !isEmpty(directory) {
      try ManifestFile(directory: directory).read().checkMayBeWritten(at: path)
    } else if !options.createsIfMissing {
      throw nothingThere
    }
    return try StoreRegistry.store(at: directory.identity, options) { () throws(StoreError) in
      try openForWriting(directory)
    }
  }

  /// Runs `body` while the store is not open for writing anywhere, this process included. The store may be damaged.
  func withLock<R>(_ body: () throws -> R) throws -> R {
    let directory = try openDirectory()
    _ = try isEmpty(directory)
    let lock = try StoreError.wrap { () throws(FileError) in
      try directory.lock(LockOwner.fileName, owner: Array(LockOwner.text.utf8))
    }
    defer { lock.release() }
    return try body()
  }

  private func openOrCreate() throws(StoreError) -> any Directory {
    do throws(StoreError) {
      return try openDirectory()
    } catch {
      guard error.code == .notFound, options.createsIfMissing else { throw error }
    }
    let permissions = FilePermissions(bits: options.filePermissions)
    try StoreError.wrap { () throws(FileError) in try environment.files.createDirectory(path, permissions) }
    return try openDirectory()
  }

  private func openDirectory() throws(StoreError) -> any Directory {
    do throws(FileError) {
      return try environment.files.directory(path)
    } catch {
      switch error.cause {
      case .notFound: throw nothingThere
      case .system(ENOTDIR): throw StoreError(.notAStore, "\(path) is not a directory")
      default: throw StoreError(error)
      }
    }
  }

  private var nothingThere: StoreError { StoreError(.notFound, "there is no store at \(path)") }

  /// Whether the directory contains at most the files that an interrupted opening leaves.
  private func isEmpty(_ directory: any Directory) throws(StoreError) -> Bool {
    let names = try StoreError.wrap { () throws(FileError) in try directory.list() }
    if names.contains(ManifestFile.name) { return false }
    guard names.allSatisfy({ $0 == LockOwner.fileName || $0 == ManifestFile.temporaryName }) else {
      throw StoreError(.notAStore, "\(path) has files but no manifest")
    }
    return true
  }

  private func openForWriting(_ directory: any Directory) throws(StoreError) -> Store {
    let isNew = try isEmpty(directory)
    try StoreError.wrap { () throws(FileError) in
      if isNew {
        directory.usePermissions(FilePermissions(bits: options.filePermissions))
      } else {
        try directory.adoptPermissions(of: ManifestFile.name)
      }
    }
    let lock = try StoreError.wrap { () throws(FileError) in
      try directory.lock(LockOwner.fileName, owner: Array(LockOwner.text.utf8))
    }
    do throws(StoreError) {
      if try isEmpty(directory) { try create(directory) }
      return try recover(lock, directory)
    } catch {
      lock.release()
      throw error
    }
  }

  private func create(_ directory: any Directory) throws(StoreError) {
    let store = UInt128(environment.random()) << 64 | UInt128(environment.random())
    var manifest = Manifest(store: store, hashSeed: environment.random(), segmentSize: options.segmentSize)
    manifest.generation = 1
    try StoreError.wrap { () throws(FileError) in
      try ManifestFile(directory: directory).replace(with: manifest)
      try environment.files.syncDirectory(SystemFileLayer.split(path).parent)
    }
  }

  private func recover(_ lock: (any FileLock)?, _ directory: any Directory) throws(StoreError) -> Store {
    // Read before the log, which a writer may be extending.
    let recorded = try WatermarkFile.read(directory)
    var manifest = try ManifestFile(directory: directory).read()
    if options.access == .readWrite { try manifest.checkMayBeWritten(at: path) }
    let table = SegmentTable(segmentSize: manifest.segmentSize)
    let index = Index(hashSeed: manifest.hashSeed, table: table, isReadOnly: options.access == .readOnly)
    let recovery = Recovery(
      directory: directory, manifest: manifest, recorded: recorded, options: options, table: table, index: index,
      replay: try Replay.into(index))
    let (recovered, report) = try recovery.run()
    // Dropped keyspaces stay for the sake of older checkpoints; keyspaces that only the log knew of are added.
    var gone = manifest.keyspaces.filter { known in
      known.definedAt <= report.lastSequence && index.keyspace(id: known.id) == nil
    }
    for position in gone.indices { gone[position].droppedAt = report.lastSequence }
    let present = index.allKeyspaces.map { keyspace in
      let known = manifest.keyspaces.element(keyspace.id)?.oldVersions ?? 0
      return Manifest.Keyspace(
        id: keyspace.id, isOrdered: keyspace.isOrdered, definedAt: keyspace.definedAt.load(ordering: .relaxed),
        name: keyspace.name, oldVersions: max(known, keyspace.oldVersions.load(ordering: .relaxed)))
    }
    manifest.keyspaces = (present + gone).sorted { $0.id < $1.id }
    manifest.nextKeyspace = max(manifest.nextKeyspace, index.nextKeyspaceID)
    let log = Log(
      environment: environment, directory: directory, table: table, manifest: manifest, recovered: recovered)
    let isRegistered = options.access == .readWrite
    return Store(
      path: path, options: options, environment: environment, index: index, log: log, recovered: recovered,
      recovery: report, lock: lock, whenClosed: { if isRegistered { StoreRegistry.remove($0) } })
  }

  /// Files may change while a reader reads them: a frame may be half written, or a segment begun after the manifest was
  /// read. So damage is reported only if it is still there when everything has been read again.
  private func openForReading() throws(StoreError) -> Store {
    let directory = try openDirectory()
    guard try !isEmpty(directory) else { throw nothingThere }
    for _ in 1..<Self.attempts {
      do throws(StoreError) {
        return try recover(nil, directory)
      } catch {
        guard error.code == .corrupted || error.code == .damaged else { throw error }
      }
    }
    return try recover(nil, directory)
  }
}

extension Manifest {
  /// Throws if what the manifest describes can be read, but must not be changed.
  fileprivate func checkMayBeWritten(at path: String) throws(StoreError) {
    guard compatibleFeatures & ~Format.knownCompatibleFeatures == 0 else {
      throw StoreError(.newerFormat, "the store has features that this version can read but not write")
    }
    guard !isBackup else {
      throw StoreError(
        .backup, "\(path) is a backup, which can only be read; Store.restore(from:to:at:) makes a store of it")
    }
  }
}
