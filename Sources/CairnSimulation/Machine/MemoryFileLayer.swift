package import Cairn
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files of a simulated machine that can crash: bytes are durable once their file has been synced, names once their
/// directory has been. The same calls give the same files.
package final class MemoryFileLayer: FileLayer {
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case createDirectory, openDirectory, list, open, create, rename, link, remove, syncDirectory, lock
    case size, read, write, reserve, truncate, sync, map
  }

  /// Called before every operation, without a lock held, so it may block and use the layer.
  package typealias Gate = @Sendable (Operation, _ path: String) -> Void

  /// A fault of one call.
  package enum Mishap: Sendable {
    /// The call fails. Bytes that a failed sync did not make durable become durable only if they are written again, as
    /// on Linux.
    case fails(FileError.Cause)
    /// A write fails, after it has written this many of each 256 bytes.
    case writesPart(Int, FileError.Cause)
    /// A write succeeds, but its bytes are in another place, possibly in another file.
    case goesTo(path: String, offset: Int)
  }

  private struct Fault {
    var skip: Int
    var mishap: Mishap
    var label: String
  }

  private struct State {
    var volume: Volume
    var gate: Gate?
    var counts: [Operation: Int] = [:]
    var faults: [Operation: [Fault]] = [:]
    var struck: [String: Int] = [:]
    var falseSyncs = 0
    var deaf: Set<Operation> = []
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

  /// How often an operation has been called, including failures.
  package func count(of operation: Operation) -> Int { state.withLock { $0.counts[operation, default: 0] } }

  /// Makes an operation fail once, after `count` calls of it that are not affected. A write that fails has written half
  /// of its bytes; bytes that a failed sync did not make durable become durable only if they are written again, as on
  /// Linux.
  package func failNext(_ operation: Operation, after count: Int = 0, with cause: FileError.Cause) {
    strikeNext(operation, after: count, .writesPart(128, cause))
  }

  /// Makes a mishap happen to an operation once, after `count` calls of it that are not affected. The mishap is counted
  /// under `label`.
  package func strikeNext(_ operation: Operation, after count: Int = 0, _ mishap: Mishap, label: String = "") {
    state.withLock {
      $0.faults[operation, default: []].append(Fault(skip: count, mishap: mishap, label: label))
    }
  }

  /// How many mishaps with this label have happened.
  package func struck(_ label: String) -> Int { state.withLock { $0.struck[label, default: 0] } }

  /// How many mishaps have happened.
  package var struck: Int { state.withLock { $0.struck.values.reduce(0, +) } }

  /// Bytes of all files together.
  package var used: Int { state.withLock { $0.volume.used } }

  /// The most bytes used since this was last set.
  package var mostUsed: Int {
    get { state.withLock { $0.volume.mostUsed } }
    set { state.withLock { $0.volume.mostUsed = newValue } }
  }

  /// How many syncs have reported success after a failed sync of the same file.
  package var falseSyncs: Int { state.withLock { $0.falseSyncs } }

  /// Kinds of syncs that report success and do nothing, like those of a disk that lies: to show that a test notices.
  package var deaf: Set<Operation> {
    get { state.withLock { $0.deaf } }
    set { state.withLock { $0.deaf = newValue } }
  }

  /// Flips bits of a byte at rest, both in the visible and in the durable content.
  package func flip(_ mask: UInt8, at offset: Int, in path: String) throws(FileError) {
    do throws(FileError.Cause) {
      try state.withLock { (state) throws(FileError.Cause) in
        let inode = try state.volume.find(path)
        state.volume.flip(mask, at: offset, in: inode)
      }
    } catch {
      throw FileError(error, "flip", path)
    }
  }

  /// Every file's bytes as they are now, by path.
  package var contents: [String: [UInt8]] { state.withLock { $0.volume.contents } }

  /// The files that a machine finds when it starts after this one has lost power: nothing that was not synced.
  package func crash() -> MemoryFileLayer { crash(.lost).files }

  /// The same, but each change of a name that was not synced may have been kept, and each block of 512 bytes kept, lost
  /// or torn.
  package func crash(using random: inout some RandomNumberGenerator) -> MemoryFileLayer {
    crash(.random(seed: random.next())).files
  }

  /// The files that a machine finds after a loss of power with the given outcome.
  package func crash(_ outcome: CrashOutcome) -> (files: MemoryFileLayer, tally: CrashTally) {
    state.withLock { state in
      var fates = CrashFates(outcome)
      let volume = state.volume.afterCrash(&fates)
      let next = MemoryFileLayer(volume)
      next.deaf = state.deaf
      return (next, fates.tally)
    }
  }

  /// The files that the next process finds when this one has been killed: all that was written, durable or not.
  package func afterKill() -> MemoryFileLayer { MemoryFileLayer(state.withLock { $0.volume.withoutProcesses() }) }

  private func perform<R: Sendable>(
    _ operation: Operation, _ path: String,
    _ body: (inout Volume, _ fault: Mishap?) throws(FileError.Cause) -> R
  ) throws(FileError) -> R {
    let gate = state.withLock { state in
      state.counts[operation, default: 0] += 1
      return state.gate
    }
    gate?(operation, path)
    do throws(FileError.Cause) {
      return try state.withLock { (state) throws(FileError.Cause) in
        let fault = state.faults[operation] == nil ? nil : Self.takeFault(&state.faults[operation, default: []])
        if let fault { state.struck[fault.label, default: 0] += 1 }
        return try body(&state.volume, fault?.mishap)
      }
    } catch {
      throw FileError(error, operation.rawValue, path)
    }
  }

  private func perform<R: Sendable>(
    _ operation: Operation, _ path: String, _ body: (inout Volume) throws(FileError.Cause) -> R
  ) throws(FileError) -> R {
    try perform(operation, path) { (volume, mishap) throws(FileError.Cause) in
      if let cause = mishap?.cause { throw cause }
      return try body(&volume)
    }
  }

  private static func takeFault(_ faults: inout [Fault]) -> Fault? {
    for index in faults.indices { faults[index].skip -= 1 }
    return faults.firstIndex { $0.skip < 0 }.map { faults.remove(at: $0) }
  }

  package func createDirectory(_ path: String, _ permissions: FilePermissions) throws(FileError) {
    try perform(.createDirectory, path) { (volume) throws(FileError.Cause) in try volume.createDirectory(path) }
  }

  package func directory(_ path: String) throws(FileError) -> any Directory {
    let inode = try perform(.openDirectory, path) { (volume) throws(FileError.Cause) in
      try volume.findDirectory(path)
    }
    return MemoryDirectory(layer: self, inode: inode, path: path)
  }

  package func rename(_ source: String, to target: String) throws(FileError) {
    try perform(.rename, source) { (volume) throws(FileError.Cause) in
      try volume.rename(volume.findParent(source), to: volume.findParent(target))
    }
  }

  private final class MemoryDirectory: Directory {
    let layer: MemoryFileLayer
    let inode: Int
    let path: String

    init(layer: MemoryFileLayer, inode: Int, path: String) {
      self.layer = layer
      self.inode = inode
      self.path = path
    }

    var identity: FileIdentity { FileIdentity(device: layer.id, inode: UInt64(inode)) }

    var freeSpace: Int {
      layer.state.withLock { state in state.volume.capacity.map { max(0, $0 - state.volume.used) } ?? .max }
    }

    private func perform<R: Sendable>(
      _ operation: Operation, _ name: String, _ body: (inout Volume) throws(FileError.Cause) -> R
    ) throws(FileError) -> R {
      try layer.perform(operation, "\(path)/\(name)", body)
    }

    func list() throws(FileError) -> [String] {
      try layer.perform(.list, path) { (volume) throws(FileError.Cause) in try volume.list(inode) }
    }

    func open(_ name: String, _ mode: FileMode) throws(FileError) -> any File {
      let file = try perform(mode == .create ? .create : .open, name) { (volume) throws(FileError.Cause) in
        try volume.open((inode, name), mode)
      }
      return MemoryFile(layer: layer, inode: file, path: "\(path)/\(name)", isWritable: mode != .read)
    }

    func rename(_ source: String, to target: String) throws(FileError) {
      try perform(.rename, source) { (volume) throws(FileError.Cause) in
        try volume.rename((inode, source), to: (inode, target))
      }
    }

    func link(_ source: String, in directory: any Directory, as name: String) throws(FileError) {
      try perform(.link, name) { (volume) throws(FileError.Cause) in
        guard let other = directory as? MemoryDirectory, other.layer === layer else { throw .system(EXDEV) }
        try volume.link((other.inode, source), as: (inode, name))
      }
    }

    func remove(_ name: String) throws(FileError) {
      try perform(.remove, name) { (volume) throws(FileError.Cause) in try volume.remove((inode, name)) }
    }

    func sync() throws(FileError) {
      let isDeaf = layer.deaf.contains(.syncDirectory)
      try layer.perform(.syncDirectory, path) { (volume) throws(FileError.Cause) in
        if !isDeaf { try volume.syncDirectory(inode) }
      }
    }

    func checkPresence() throws(FileError) {
      guard layer.state.withLock({ $0.volume.hasDirectory(inode) }) else {
        throw FileError(.notFound, "look for", path)
      }
    }

    func lock(_ name: String, owner: [UInt8]) throws(FileError) -> any FileLock {
      let file = try perform(.lock, name) { (volume) throws(FileError.Cause) in try volume.lock((inode, name), owner) }
      return MemoryLock(layer: layer, inode: file, directory: inode)
    }

    func adoptPermissions(of name: String) {}

    func usePermissions(_ permissions: FilePermissions) {}

    func close() {}
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
      try perform(operation) { (content, space, mishap) throws(FileError.Cause) in
        if let cause = mishap?.cause { throw cause }
        return try body(&content, &space)
      }
    }

    private func perform<R: Sendable>(
      _ operation: Operation,
      _ body: (inout Content, inout Volume.Space, Mishap?) throws(FileError.Cause) -> R
    ) throws(FileError) -> R {
      try layer.perform(operation, path) { (volume, mishap) throws(FileError.Cause) in
        let isChange = operation == .write || operation == .reserve || operation == .truncate
        guard isOpen.load(ordering: .relaxed), isWritable || !isChange else { throw .system(EBADF) }
        return try volume.withContent(inode) { (content, space) throws(FileError.Cause) in
          try body(&content, &space, mishap)
        }
      }
    }

    func size() throws(FileError) -> Int {
      try perform(.size) { (content, _) in content.size }
    }

    func contentEnd() throws(FileError) -> Int { try size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
      try perform(.read) { (content, _) in unsafe content.read(into: buffer, at: offset) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
      try layer.perform(.write, path) { (volume, mishap) throws(FileError.Cause) in
        guard isOpen.load(ordering: .relaxed), isWritable else { throw .system(EBADF) }
        var target = inode
        var offset = offset
        var count = bytes.count
        switch mishap {
        case .fails(let cause): throw cause
        case .writesPart(let part, _): count = count * part / 256
        case .goesTo(let path, let other): (target, offset) = (try volume.find(path), other)
        case nil: break
        }
        try volume.withContent(target) { (content, space) throws(FileError.Cause) in
          try unsafe content.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset, &space)
        }
        if let cause = mishap?.cause { throw cause }
      }
    }

    func reserve(_ size: Int) throws(FileError) {
      try perform(.reserve) { (content, space) throws(FileError.Cause) in try content.grow(to: size, &space) }
    }

    func truncate(_ size: Int) throws(FileError) {
      try perform(.truncate) { (content, space) throws(FileError.Cause) in try content.truncate(size, &space) }
    }

    func sync() throws(FileError) {
      // With a gate, time passes between the beginning of a sync and its end; bytes written meanwhile are not covered.
      let started = layer.state.withLock { state in
        state.gate == nil || !isOpen.load(ordering: .relaxed)
          ? nil : state.volume.withContent(inode) { (content, _) in content.unsynced() }
      }
      let isDeaf = layer.deaf.contains(.sync)
      let isFalse = try perform(.sync) { (content, _, mishap) throws(FileError.Cause) in
        if let cause = mishap?.cause {
          content.abandon()
          throw cause
        }
        if !isDeaf { content.sync(started) }
        return content.takeFailure()
      }
      if isFalse { layer.state.withLock { $0.falseSyncs += 1 } }
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
    let directory: Int
    let isHeld = Atomic(true)

    init(layer: MemoryFileLayer, inode: Int, directory: Int) {
      self.layer = layer
      self.inode = inode
      self.directory = directory
    }

    deinit { release() }

    func release() {
      if isHeld.exchange(false, ordering: .relaxed) {
        layer.state.withLock { $0.volume.unlock(inode, directory) }
      }
    }

    func abandon() { isHeld.store(false, ordering: .relaxed) }
  }
}

extension MemoryFileLayer.Mishap {
  fileprivate var cause: FileError.Cause? {
    switch self {
    case .fails(let cause), .writesPart(_, let cause): cause
    case .goesTo: nil
    }
  }
}
