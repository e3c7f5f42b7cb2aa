import CCairnPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// From a path to a store: finds out what is there, takes the lock, and recovers.
struct StoreOpening {
  let path: String
  let options: StoreOptions
  let environment: Environment

  /// How often a reader beside a writer looks again before it believes that the log is damaged.
  private static let attempts = 8

  private var manifestFile: ManifestFile { ManifestFile(files: environment.files, directory: path) }

  func open() throws(StoreError) -> Store {
    if options.access == .readOnly { return try openForReading() }
    guard (1 << 16...1 << 30).contains(options.segmentSize) else {
      throw StoreError(.malformed, "a segment has 64 KiB to 1 GiB, not \(options.segmentSize) bytes")
    }
    if try isEmpty() {
      guard options.createIfMissing else { throw StoreError(.notFound, "there is no store at \(path)") }
      try attempt { () throws(FileError) in try environment.files.createDirectory(path) }
    } else {
      // Before anything is touched: is it a store, and one that we know how to write?
      guard try manifestFile.read().compatibleFeatures & ~Format.knownFeatures == 0 else {
        throw StoreError(.newerFormat, "the store has features that this version can read and not write")
      }
    }
    let identity = try attempt { () throws(FileError) in try environment.files.identity(path) }
    return try StoreRegistry.store(at: identity) { () throws(StoreError) in try openForWriting(identity) }
  }

  /// The directory that holds the store's name.
  private var parent: String {
    var rest = Substring(path)
    while rest.last == "/", rest.count > 1 { rest.removeLast() }
    guard let slash = rest.lastIndex(of: "/") else { return "." }
    return slash == rest.startIndex ? "/" : String(rest[..<slash])
  }

  private func attempt<R>(_ body: () throws(FileError) -> R) throws(StoreError) -> R {
    do throws(FileError) { return try body() } catch { throw StoreError(error) }
  }

  /// Whether there is nothing here, or no more than what an opening that was cut short leaves.
  private func isEmpty() throws(StoreError) -> Bool {
    let names: [String]
    do throws(FileError) {
      names = try environment.files.list(path)
    } catch {
      switch error.cause {
      case .notFound: return true
      case .system(ENOTDIR): throw StoreError(.notAStore, "\(path) is not a directory")
      default: throw StoreError(error)
      }
    }
    if names.contains(ManifestFile.name) { return false }
    guard names.allSatisfy({ $0 == "LOCK" || $0 == "\(ManifestFile.name).new" }) else {
      throw StoreError(.notAStore, "\(path) has files in it and no manifest")
    }
    return true
  }

  private func openForWriting(_ identity: FileIdentity) throws(StoreError) -> Store {
    let lock = try attempt { () throws(FileError) in
      try environment.files.lock("\(path)/LOCK", owner: Array(LockOwner.text.utf8))
    }
    do throws(StoreError) {
      if try isEmpty() { try create() }
      return try recover(lock, identity)
    } catch {
      lock.release()
      throw error
    }
  }

  private func create() throws(StoreError) {
    let store = UInt128(environment.random()) << 64 | UInt128(environment.random())
    var manifest = Manifest(store: store, hashSeed: environment.random(), segmentSize: options.segmentSize)
    manifest.generation = 1
    try attempt { () throws(FileError) in try manifestFile.replace(with: manifest) }
    try attempt { () throws(FileError) in try environment.files.syncDirectory(parent) }
  }

  private func recover(_ lock: (any FileLock)?, _ identity: FileIdentity) throws(StoreError) -> Store {
    var manifest = try manifestFile.read()
    let table = SegmentTable(segmentSize: manifest.segmentSize)
    let index = Index(hashSeed: manifest.hashSeed, table: table)
    let recovery = Recovery(
      files: environment.files, directory: path, manifest: manifest, options: options, table: table, index: index)
    let (recovered, report) = try recovery.run()
    // Those that have been dropped stay for the sake of older checkpoints, those that only the log knew of are added.
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
      environment: environment, directory: path, table: table, manifest: manifest, recovered: recovered)
    return Store(
      path: path, options: options, environment: environment, index: index, log: log, recovery: report, lock: lock,
      identity: identity)
  }

  /// What is read may change under a reader: a frame half written, a segment begun after the manifest was read. Damage
  /// is believed only if it is still there when everything is read once more.
  private func openForReading() throws(StoreError) -> Store {
    guard try !isEmpty() else { throw StoreError(.notFound, "there is no store at \(path)") }
    let identity = try attempt { () throws(FileError) in try environment.files.identity(path) }
    for _ in 1..<Self.attempts {
      do throws(StoreError) {
        return try recover(nil, identity)
      } catch {
        guard error.code == .corrupted || error.code == .damaged else { throw error }
      }
    }
    return try recover(nil, identity)
  }
}

/// Whom to ask when the store is locked: what stands in the lock's file.
package enum LockOwner {
  /// This process.
  static var text: String { "process \(getpid()) on \(place)" }

  private static var place: String {
    var host = [CChar](repeating: 0, count: 256)
    var boot = [CChar](repeating: 0, count: 64)
    unsafe gethostname(&host, host.count - 1)
    let length = unsafe cairn_boot_identity(&boot, boot.count)
    func text(_ characters: some Sequence<CChar>) -> String {
      String(decoding: characters.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return "\(text(host.prefix { $0 != 0 })), boot \(text(boot.prefix(length)))"
  }

  /// Whether that process is running here; false if it isn't, or nobody can tell.
  package static func isRunning(_ text: String) -> Bool {
    let words = text.split(separator: " ", maxSplits: 3)
    guard words.count == 4, words[0] == "process", words[2] == "on", words[3] == place, let id = pid_t(words[1]), id > 0
    else { return false }
    return kill(id, 0) == 0 || errno == EPERM
  }
}
