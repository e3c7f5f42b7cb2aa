import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files of a simulated machine that can crash: bytes last once their file has been synced, names once their
/// directory has. The same calls give the same files.
package final class MemoryFileLayer: FileLayer {
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case createDirectory, list, open, create, rename, remove, syncDirectory, identity, lock
    case size, read, write, reserve, truncate, sync, map
  }

  /// Called before every operation, with no lock held: it may take its time, and use the layer.
  package typealias Gate = @Sendable (Operation, _ path: String) -> Void

  private struct Fault {
    var skip: Int
    var cause: FileError.Cause
  }

  private struct State {
    var volume: Volume
    var gate: Gate?
    var counts: [Operation: Int] = [:]
    var faults: [Operation: [Fault]] = [:]
  }

  private static let layers = Atomic<UInt64>(0)

  private let state: Lock<State>
  private let id = layers.add(1, ordering: .relaxed).newValue

  /// `capacity` limits the bytes of all files together.
  package convenience init(capacity: Int? = nil) { self.init(Volume(capacity: capacity)) }

  private init(_ volume: Volume) { state = Lock(State(volume: volume)) }

  package var gate: Gate? {
    get { state.withLock { $0.gate } }
    set { state.withLock { $0.gate = newValue } }
  }

  package var capacity: Int? {
    get { state.withLock { $0.volume.capacity } }
    set { state.withLock { $0.volume.capacity = newValue } }
  }

  /// How often an operation has been asked for, failures included.
  package func count(of operation: Operation) -> Int { state.withLock { $0.counts[operation, default: 0] } }

  /// Lets an operation fail once, after `count` more that don't. A write that fails has written half of its bytes; what
  /// a failed sync left behind becomes durable only if it is written again, as on Linux.
  package func failNext(_ operation: Operation, after count: Int = 0, with cause: FileError.Cause) {
    state.withLock { $0.faults[operation, default: []].append(Fault(skip: count, cause: cause)) }
  }

  /// Every file's bytes as they are now, by path.
  package var contents: [String: [UInt8]] { state.withLock { $0.volume.contents } }

  /// What a machine finds that starts after this one has lost its power: nothing that was not synced.
  package func crash() -> MemoryFileLayer { MemoryFileLayer(state.withLock { $0.volume.afterCrash() }) }

  /// The same, but of what was not synced each change of a name may have been kept, and each block of 512 bytes been
  /// kept, lost or torn.
  package func crash(using random: inout some RandomNumberGenerator) -> MemoryFileLayer {
    MemoryFileLayer(state.withLock { $0.volume.afterCrash(using: &random) })
  }

  private func perform<R: Sendable>(
    _ operation: Operation, _ path: String,
    _ body: (inout Volume, _ fault: FileError.Cause?) throws(FileError.Cause) -> R
  ) throws(FileError) -> R {
    let gate = state.withLock { state in
      state.counts[operation, default: 0] += 1
      return state.gate
    }
    gate?(operation, path)
    do throws(FileError.Cause) {
      return try state.withLock { (state) throws(FileError.Cause) in
        try body(&state.volume, Self.takeFault(&state.faults[operation, default: []]))
      }
    } catch {
      throw FileError(error, operation.rawValue, path)
    }
  }

  private func perform<R: Sendable>(
    _ operation: Operation, _ path: String, _ body: (inout Volume) throws(FileError.Cause) -> R
  ) throws(FileError) -> R {
    try perform(operation, path) { (volume, fault) throws(FileError.Cause) in
      if let fault { throw fault }
      return try body(&volume)
    }
  }

  private static func takeFault(_ faults: inout [Fault]) -> FileError.Cause? {
    for index in faults.indices { faults[index].skip -= 1 }
    return faults.firstIndex { $0.skip < 0 }.map { faults.remove(at: $0).cause }
  }

  package func createDirectory(_ path: String) throws(FileError) {
    try perform(.createDirectory, path) { (volume) throws(FileError.Cause) in try volume.createDirectory(path) }
  }

  package func list(_ directory: String) throws(FileError) -> [String] {
    try perform(.list, directory) { (volume) throws(FileError.Cause) in try volume.list(directory) }
  }

  package func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
    let inode = try perform(mode == .create ? .create : .open, path) { (volume) throws(FileError.Cause) in
      try volume.open(path, mode)
    }
    return MemoryFile(layer: self, inode: inode, path: path, isWritable: mode != .read)
  }

  package func rename(_ source: String, to target: String) throws(FileError) {
    try perform(.rename, source) { (volume) throws(FileError.Cause) in try volume.rename(source, to: target) }
  }

  package func remove(_ path: String) throws(FileError) {
    try perform(.remove, path) { (volume) throws(FileError.Cause) in try volume.remove(path) }
  }

  package func syncDirectory(_ path: String) throws(FileError) {
    try perform(.syncDirectory, path) { (volume) throws(FileError.Cause) in try volume.syncDirectory(path) }
  }

  package func identity(_ path: String) throws(FileError) -> FileIdentity {
    let inode = try perform(.identity, path) { (volume) throws(FileError.Cause) in try volume.find(path) }
    return FileIdentity(device: id, inode: UInt64(inode))
  }

  package func lock(_ path: String, owner: [UInt8]) throws(FileError) -> any FileLock {
    let inode = try perform(.lock, path) { (volume) throws(FileError.Cause) in try volume.lock(path, owner) }
    return MemoryLock(layer: self, inode: inode)
  }

  private final class MemoryFile: File {
    let layer: MemoryFileLayer
    let inode: Int
    let path: String
    let isWritable: Bool
    let isOpen = Atomic(true)

    init(layer: MemoryFileLayer, inode: Int, path: String, isWritable: Bool) {
      self.layer = layer
      self.inode = inode
      self.path = path
      self.isWritable = isWritable
    }

    deinit { close() }

    func close() {
      if isOpen.exchange(false, ordering: .relaxed) { layer.state.withLock { $0.volume.close(inode) } }
    }

    private func perform<R: Sendable>(
      _ operation: Operation, _ body: (inout Content, inout Volume.Space) throws(FileError.Cause) -> R
    ) throws(FileError) -> R {
      try perform(operation) { (content, space, fault) throws(FileError.Cause) in
        if let fault { throw fault }
        return try body(&content, &space)
      }
    }

    private func perform<R: Sendable>(
      _ operation: Operation,
      _ body: (inout Content, inout Volume.Space, FileError.Cause?) throws(FileError.Cause) -> R
    ) throws(FileError) -> R {
      try layer.perform(operation, path) { (volume, fault) throws(FileError.Cause) in
        let isChange = operation == .write || operation == .reserve || operation == .truncate
        guard isOpen.load(ordering: .relaxed), isWritable || !isChange else { throw .system(EBADF) }
        return try volume.withContent(inode) { (content, space) throws(FileError.Cause) in
          try body(&content, &space, fault)
        }
      }
    }

    func size() throws(FileError) -> Int {
      try perform(.size) { (content, _) in content.size }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
      try perform(.read) { (content, _) in unsafe content.read(into: buffer, at: offset) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
      try perform(.write) { (content, space, fault) throws(FileError.Cause) in
        guard let fault else { return try unsafe content.write(bytes, at: offset, &space) }
        try unsafe content.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2)), at: offset, &space)
        throw fault
      }
    }

    func reserve(_ size: Int) throws(FileError) {
      try perform(.reserve) { (content, space) throws(FileError.Cause) in try content.grow(to: size, &space) }
    }

    func truncate(_ size: Int) throws(FileError) {
      try perform(.truncate) { (content, space) throws(FileError.Cause) in try content.truncate(size, &space) }
    }

    func sync() throws(FileError) {
      // With a gate time passes between a sync's beginning and its end; what is written meanwhile isn't covered.
      let started = layer.state.withLock { state in
        state.gate == nil || !isOpen.load(ordering: .relaxed)
          ? nil : state.volume.withContent(inode) { (content, _) in content.unsynced() }
      }
      try perform(.sync) { (content, _, fault) throws(FileError.Cause) in
        guard let fault else { return content.sync(started) }
        content.abandon()
        throw fault
      }
    }

    func map(_ length: Int) throws(FileError) -> any Mapping {
      let region = try perform(.map) { (content, _) throws(FileError.Cause) in try content.region(of: length) }
      return MemoryMapping(region, length)
    }

    func mapPrivately(_ length: Int) throws(FileError) -> PrivateMapping {
      try perform(.map) { (content, _) throws(FileError.Cause) in
        let memory = try PrivateMapping(nil, max(length, 1))
        _ = unsafe content.read(into: UnsafeMutableRawBufferPointer(start: memory.base, count: length), at: 0)
        return memory
      }
    }
  }

  private final class MemoryMapping: Mapping {
    let region: Region
    let length: Int

    init(_ region: Region, _ length: Int) {
      self.region = region
      self.length = length
    }

    var base: UnsafeRawPointer { unsafe UnsafeRawPointer(region.base) }
  }

  private final class MemoryLock: FileLock {
    let layer: MemoryFileLayer
    let inode: Int
    let isHeld = Atomic(true)

    init(layer: MemoryFileLayer, inode: Int) {
      self.layer = layer
      self.inode = inode
    }

    deinit { release() }

    func release() {
      if isHeld.exchange(false, ordering: .relaxed) { layer.state.withLock { $0.volume.unlock(inode) } }
    }
  }
}
