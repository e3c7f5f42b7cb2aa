import CCairnPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The operating system's files.
package struct SystemFileLayer: FileLayer {
  package init() {}

  package func createDirectory(_ path: String) throws(FileError) {
    do throws(FileError) {
      _ = try attempt("create directory", path) { unsafe mkdir(path, 0o777) }
    } catch {
      guard error.cause == .exists else { throw error }
      let mode = try status("create directory", path).st_mode
      guard mode & S_IFMT == S_IFDIR else { throw error }
    }
  }

  package func list(_ directory: String) throws(FileError) -> [String] {
    guard let stream = unsafe opendir(directory) else { throw FileError(.init(errno), "list", directory) }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw FileError(.init(errno), "list", directory) }
        return names.sorted()
      }
      // The name may be shorter than its field, and the memory end with it, so it must not be copied as a whole.
      let name = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
      let text = unsafe String(cString: name.assumingMemoryBound(to: CChar.self))
      if text != ".", text != ".." { names.append(text) }
    }
  }

  package func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      }
    return SystemFile(try openDescriptor("open", path, flags), path, isWritable: mode != .read)
  }

  package func rename(_ source: String, to target: String) throws(FileError) {
    _ = try attempt("rename", source) { renamePath(source, target) }
  }

  package func remove(_ path: String) throws(FileError) {
    _ = try attempt("remove", path) { removePath(path) }
  }

  package func syncDirectory(_ path: String) throws(FileError) {
    let descriptor = try openDescriptor("sync directory", path, O_RDONLY | O_DIRECTORY)
    defer { closeDescriptor(descriptor) }
    #if canImport(Darwin)
      try check("sync directory", path) { cairn_sync_data(descriptor) }
    #else
      _ = try attempt("sync directory", path) { fsync(descriptor) }
    #endif
  }

  package func identity(_ path: String) throws(FileError) -> FileIdentity {
    let status = try status("identify", path)
    return FileIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
  }

  package func lock(_ path: String, owner: [UInt8]) throws(FileError) -> any FileLock {
    let file = SystemFile(try openDescriptor("lock", path, O_RDWR | O_CREAT), path, isWritable: true)
    do throws(FileError) {
      _ = try attempt("lock", path) { flock(file.descriptor, LOCK_EX | LOCK_NB) }
    } catch {
      guard error.cause == .system(EWOULDBLOCK) else { throw error }
      throw FileError(.locked(owner: try file.firstBytes(4096)), "lock", path)
    }
    try file.truncate(0)
    do throws(FileError) {
      try file.writeAll(owner, at: 0)
    } catch {
      guard error.cause == .noSpace else { throw error }
    }
    return SystemLock(file)
  }
}

private final class SystemFile: File {
  private let state: Atomic<Int32>
  private let path: String
  private let isWritable: Bool
  /// Bytes from the beginning whose blocks are reserved.
  private let reserved = Atomic<Int>(0)
  /// The file mapped for writing, where that is sound: a store into a page that is there costs a fraction of a call. 0
  /// if it isn't.
  private let window = Atomic<UInt>(0)
  private let windowLength = Atomic<Int>(0)

  /// Longer writes are calls.
  private static let longestStore = 4096

  init(_ descriptor: Int32, _ path: String, isWritable: Bool) {
    state = Atomic(descriptor)
    self.path = path
    self.isWritable = isWritable
  }

  deinit { close() }

  /// -1, which every call refuses, once closed.
  var descriptor: Int32 { state.load(ordering: .relaxed) }

  func close() {
    let descriptor = state.exchange(-1, ordering: .relaxed)
    if descriptor >= 0 { closeDescriptor(descriptor) }
    let window = unsafe UnsafeMutableRawPointer(bitPattern: window.exchange(0, ordering: .relaxed))
    if let window = unsafe window { unsafe munmap(window, windowLength.load(ordering: .relaxed)) }
  }

  func size() throws(FileError) -> Int {
    var status = stat()
    _ = try attempt("read size of", path) { unsafe fstat(descriptor, &status) }
    return Int(status.st_size)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = try attempt("read", path) {
        unsafe pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    if bytes.count <= Self.longestStore, offset + bytes.count <= reserved.load(ordering: .relaxed),
      offset + bytes.count <= windowLength.load(ordering: .relaxed),
      let window = unsafe UnsafeMutableRawPointer(bitPattern: window.load(ordering: .relaxed))
    {
      unsafe UnsafeMutableRawBufferPointer(start: window + offset, count: bytes.count).copyMemory(from: bytes)
      return
    }
    var done = 0
    while done < bytes.count {
      done += try attempt("write", path) {
        unsafe pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
      }
    }
  }

  func reserve(_ size: Int) throws(FileError) {
    guard size > 0 else { return }
    let old = try self.size()
    do throws(FileError) {
      switch cairn_reserve(descriptor, 0, Int64(size)) {
      case 0: break
      case EOPNOTSUPP, ENOTSUP, EINVAL: try fill(from: old, to: size)
      case let code: throw FileError(.init(code), "reserve space for", path)
      }
    } catch {
      // A reservation that ran out of space may have made the file longer.
      if old < size { _ = ftruncate(descriptor, off_t(old)) }
      throw error
    }
    reserved.store(max(size, reserved.load(ordering: .relaxed)), ordering: .relaxed)
  }

  private func fill(from start: Int, to end: Int) throws(FileError) {
    let zeros = [UInt8](repeating: 0, count: min(max(end - start, 0), 1 << 18))
    for offset in stride(from: start, to: end, by: 1 << 18) {
      try unsafe zeros.withUnsafeBufferPointer { (zeros) throws(FileError) in
        try unsafe write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: zeros.prefix(end - offset))), at: offset)
      }
    }
  }

  func truncate(_ size: Int) throws(FileError) {
    reserved.store(min(size, reserved.load(ordering: .relaxed)), ordering: .relaxed)
    _ = try attempt("truncate", path) { ftruncate(descriptor, off_t(size)) }
  }

  func sync() throws(FileError) {
    try check("sync", path) { cairn_sync_data(descriptor) }
  }

  func map(_ length: Int) throws(FileError) -> any Mapping {
    // The system refuses to map nothing.
    let length = max(length, 1)
    guard let base = unsafe mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0), unsafe base != MAP_FAILED else {
      throw FileError(.init(errno), "map", path)
    }
    openWindow(length)
    return unsafe SystemMapping(base, length)
  }

  func mapPrivately(_ length: Int) throws(FileError) -> PrivateMapping {
    do throws(FileError.Cause) {
      return try PrivateMapping(descriptor, max(length, 1))
    } catch {
      throw FileError(error, "map", path)
    }
  }

  /// Bytes are seen by everyone who maps or reads the file at once, and stay when the process ends, as with a call.
  private func openWindow(_ length: Int) {
    guard isWritable, window.load(ordering: .relaxed) == 0, cairn_overwrites_in_place(descriptor) != 0 else { return }
    let base = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else { return }
    windowLength.store(length, ordering: .relaxed)
    window.store(UInt(bitPattern: base), ordering: .relaxed)
  }

  func firstBytes(_ count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = try unsafe bytes.withUnsafeMutableBufferPointer { (buffer) throws(FileError) -> Int in
      try unsafe self.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
    return Array(bytes.prefix(read))
  }
}

@safe private final class SystemMapping: Mapping {
  nonisolated(unsafe) let base: UnsafeRawPointer
  let length: Int

  init(_ base: UnsafeMutableRawPointer, _ length: Int) {
    unsafe self.base = UnsafeRawPointer(base)
    self.length = length
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: base), length) }
}

/// `flock` belongs to the one open file description, which is never duplicated: another descriptor of the
/// same file can come and go without ending it.
private final class SystemLock: FileLock {
  private let file: SystemFile

  init(_ file: SystemFile) { self.file = file }

  deinit { release() }

  func release() {
    let descriptor = file.descriptor
    guard descriptor >= 0 else { return }
    _ = ftruncate(descriptor, 0)
    _ = flock(descriptor, LOCK_UN)
    file.close()
  }
}

extension FileError.Cause {
  fileprivate init(_ code: Int32) {
    switch code {
    case ENOENT: self = .notFound
    case EEXIST: self = .exists
    case EACCES, EPERM, EROFS: self = .noPermission
    case ENOSPC, EDQUOT: self = .noSpace
    default: self = .system(code)
    }
  }
}

/// Makes a call that reports failure as -1 and `errno`, again if it was interrupted.
private func attempt<T: SignedInteger>(
  _ operation: String, _ path: String, _ call: () -> T
) throws(FileError) -> T {
  while true {
    let result = call()
    if result != -1 { return result }
    let code = errno
    if code != EINTR { throw FileError(.init(code), operation, path) }
  }
}

/// Makes a call that returns an `errno` value, again if it was interrupted.
private func check(_ operation: String, _ path: String, _ call: () -> Int32) throws(FileError) {
  while true {
    let code = call()
    if code == 0 { return }
    if code != EINTR { throw FileError(.init(code), operation, path) }
  }
}

private func status(_ operation: String, _ path: String) throws(FileError) -> stat {
  var status = stat()
  _ = try attempt(operation, path) { unsafe stat(path, &status) }
  return status
}

private func openDescriptor(_ operation: String, _ path: String, _ flags: Int32) throws(FileError) -> Int32 {
  try attempt(operation, path) { unsafe open(path, flags | O_CLOEXEC, 0o666) }
}

// These three have names that methods hide.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
private func renamePath(_ source: String, _ target: String) -> Int32 { unsafe rename(source, target) }
private func removePath(_ path: String) -> Int32 { unsafe remove(path) }
