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
  /// The `errno` value for a path on which something else is where a directory should be.
  static let notADirectory = ENOTDIR

  package init() {}

  package func createDirectory(_ path: String, _ permissions: FilePermissions) throws(FileError) {
    let mode = mode_t(permissions.ofDirectory.bits)
    do throws(FileError) {
      _ = try attempt("create directory", path) { unsafe mkdir(path, mode) }
    } catch {
      guard error.cause == .exists else { throw error }
      // If the path leads to something else, it is no directory.
      do throws(FileError) { _ = try directory(path) } catch let other {
        throw other.cause == .system(ENOTDIR) ? error : other
      }
      return
    }
    // `mkdir` has applied the process's `umask`, which is meant for files without permissions of their own.
    if permissions != .private { _ = try attempt("create directory", path) { unsafe chmod(path, mode) } }
  }

  package func directory(_ path: String) throws(FileError) -> any Directory { try SystemDirectory(path) }
}

/// A directory's descriptor. `flock` belongs to the one open file description, which is never duplicated.
private final class SystemDirectory: Directory {
  let path: String
  let identity: FileIdentity
  private let state: Atomic<Int32>
  /// Permissions of files that are created.
  private let mode = Atomic<UInt16>(FilePermissions.private.bits)

  init(_ path: String) throws(FileError) {
    self.path = path
    let descriptor = try attempt("open", path) { openFile(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0) }
    do throws(FileError) {
      let status = try status("open", path, descriptor)
      identity = FileIdentity(
        device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    } catch {
      closeDescriptor(descriptor)
      throw error
    }
    state = Atomic(descriptor)
  }

  deinit { close() }

  /// -1 once closed; every system call refuses that.
  var descriptor: Int32 { state.load(ordering: .relaxed) }

  func close() {
    let descriptor = state.exchange(-1, ordering: .relaxed)
    if descriptor >= 0 { closeDescriptor(descriptor) }
  }

  /// 0 if the system does not tell.
  var freeSpace: Int {
    var status = statvfs()
    guard unsafe fstatvfs(descriptor, &status) == 0 else { return 0 }
    let blocks = Int(clamping: status.f_bavail)
    let (bytes, overflow) = blocks.multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }

  func list() throws(FileError) -> [String] {
    // A descriptor of its own, because the stream closes it and moves its position.
    let own = try attempt("list", path) { openFile(descriptor, ".", O_RDONLY | O_DIRECTORY, 0) }
    guard let stream = unsafe fdopendir(own) else {
      let code = errno
      closeDescriptor(own)
      throw FileError(.init(code), "list", path)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw FileError(.init(errno), "list", path) }
        return names.sorted()
      }
      // The name may be shorter than its field, and the memory may end with the name, so the field must not be copied
      // as a whole.
      let name = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
      let text = unsafe String(cString: name.assumingMemoryBound(to: CChar.self))
      if text != ".", text != ".." { names.append(text) }
    }
  }

  func open(_ name: String, _ mode: FileMode) throws(FileError) -> any File {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      }
    return try openRegular("open", name, flags)
  }

  private func openRegular(_ operation: String, _ name: String, _ flags: Int32) throws(FileError) -> SystemFile {
    let path = "\(path)/\(name)"
    let permissions = mode_t(mode.load(ordering: .relaxed))
    let descriptor: Int32
    do throws(FileError) {
      // Without O_NONBLOCK, opening a pipe would wait for its other end.
      descriptor = try attempt(operation, path) {
        openFile(self.descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, permissions)
      }
    } catch {
      switch error.cause {
      case .system(ELOOP), .system(EMLINK), .system(ENXIO), .system(EISDIR):
        throw FileError(.notAFile, operation, path)
      default: throw error
      }
    }
    let file = SystemFile(descriptor, path, isWritable: flags & O_RDWR != 0)
    let found = try status(operation, path, descriptor).st_mode
    guard found & S_IFMT == S_IFREG else { throw FileError(.notAFile, operation, path) }
    if flags & O_CREAT != 0, found & 0o777 != permissions {
      // The process's `umask` has been applied. A file that exists and belongs to another user stays as it is.
      _ = fchmod(descriptor, permissions)
    }
    return file
  }

  func rename(_ source: String, to target: String) throws(FileError) {
    _ = try attempt("rename", "\(path)/\(source)") { renameFile(descriptor, source, target) }
  }

  func link(_ source: String, in directory: any Directory, as name: String) throws(FileError) {
    guard let other = directory as? SystemDirectory else { throw FileError(.system(EXDEV), "link", "\(path)/\(name)") }
    _ = try attempt("link", "\(path)/\(name)") { linkFile(other.descriptor, source, descriptor, name) }
  }

  func remove(_ name: String) throws(FileError) {
    let path = "\(path)/\(name)"
    do throws(FileError) {
      _ = try attempt("remove", path) { unsafe unlinkat(descriptor, name, 0) }
    } catch {
      // The errors that systems report for a directory.
      guard error.cause == .system(EISDIR) || error.cause == .noPermission else { throw error }
      do throws(FileError) {
        _ = try attempt("remove", path) { unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }
      } catch let other {
        throw other.cause == .system(ENOTDIR) ? error : other
      }
    }
  }

  func sync() throws(FileError) {
    #if canImport(Darwin)
      try check("sync directory", path) { cairn_sync_data(descriptor) }
    #else
      _ = try attempt("sync directory", path) { fsync(descriptor) }
    #endif
  }

  func checkPresence() throws(FileError) {
    guard try status("look for", path, descriptor).st_nlink > 0 else { throw FileError(.notFound, "look for", path) }
  }

  func adoptPermissions(of name: String) throws(FileError) {
    let file = try openRegular("read permissions of", name, O_RDONLY)
    defer { file.close() }
    let found = try status("read permissions of", "\(path)/\(name)", file.descriptor)
    usePermissions(FilePermissions(bits: UInt16(truncatingIfNeeded: found.st_mode)))
  }

  func usePermissions(_ permissions: FilePermissions) { mode.store(permissions.bits, ordering: .relaxed) }

  /// Locks the directory too, in case somebody removes the file, which names the owner and which is all that earlier
  /// versions lock.
  func lock(_ name: String, owner: [UInt8]) throws(FileError) -> any FileLock {
    let path = "\(path)/\(name)"
    do throws(FileError) {
      _ = try attempt("lock", self.path) { flockDescriptor(descriptor, LOCK_EX | LOCK_NB) }
    } catch {
      // Some file systems cannot lock directories.
      if error.cause == .system(EWOULDBLOCK) {
        let file = try? openRegular("lock", name, O_RDONLY)
        throw FileError(.locked(owner: (try? file?.bytes(4096)) ?? []), "lock", path)
      }
    }
    do throws(FileError) {
      let file = try openRegular("lock", name, O_RDWR | O_CREAT)
      do throws(FileError) {
        _ = try attempt("lock", path) { flockDescriptor(file.descriptor, LOCK_EX | LOCK_NB) }
      } catch {
        guard error.cause == .system(EWOULDBLOCK) else { throw error }
        throw FileError(.locked(owner: try file.bytes(4096)), "lock", path)
      }
      try file.truncate(0)
      do throws(FileError) {
        try file.writeAll(owner, at: 0)
      } catch {
        guard error.cause == .noSpace else { throw error }
      }
      return SystemLock(file, self)
    } catch {
      _ = flockDescriptor(descriptor, LOCK_UN)
      throw error
    }
  }
}

/// The lock of a directory and of a file in it. Closing another descriptor of either does not end it.
private final class SystemLock: FileLock {
  private let file: SystemFile
  private let directory: SystemDirectory

  init(_ file: SystemFile, _ directory: SystemDirectory) {
    self.file = file
    self.directory = directory
  }

  deinit { release() }

  func release() {
    let descriptor = file.descriptor
    guard descriptor >= 0 else { return }
    _ = ftruncate(descriptor, 0)
    _ = flockDescriptor(descriptor, LOCK_UN)
    _ = flockDescriptor(directory.descriptor, LOCK_UN)
    file.close()
  }

  func abandon() {
    file.close()
    directory.close()
  }
}
