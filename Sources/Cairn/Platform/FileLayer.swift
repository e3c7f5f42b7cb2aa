/// All operations that the engine needs of a file system. `SystemFileLayer` implements them; tests use another
/// implementation, which simulates a machine that can crash.
///
/// Every method may be called from any thread.
package protocol FileLayer: Sendable {
  /// Creates one directory; an existing one is not an error.
  func createDirectory(_ path: String, _ permissions: FilePermissions) throws(FileError)
  /// Opens a directory. Operations on it refer to that directory from then on, whatever becomes of its path.
  func directory(_ path: String) throws(FileError) -> any Directory
}

/// One open directory, and the files in it by their names.
package protocol Directory: AnyObject, Sendable {
  /// The path by which it was opened, for messages.
  var path: String { get }
  /// Distinguishes it from every other directory, whatever path leads to it.
  var identity: FileIdentity { get }
  /// About how many bytes its files can still take together.
  var freeSpace: Int { get }
  /// The names in it, sorted, without `.` and `..`.
  func list() throws(FileError) -> [String]
  /// Opens a file. Links are not followed; anything but a regular file is refused with `.notAFile`.
  func open(_ name: String, _ mode: FileMode) throws(FileError) -> any File
  func rename(_ source: String, to target: String) throws(FileError)
  /// Gives a file of another directory a name here, so that both names lead to the same bytes. Fails if there is a file
  /// of that name, or if the file system cannot do it, for example because the directories are on two devices.
  func link(_ source: String, in directory: any Directory, as name: String) throws(FileError)
  /// Removes a file, or an empty directory.
  func remove(_ name: String) throws(FileError)
  /// Makes the names in it durable: creations, renames and removals. Opens nothing.
  func sync() throws(FileError)
  /// Fails with `.notFound` if it has been removed: nothing that is written to it can be found again.
  func checkPresence() throws(FileError)
  /// Takes the exclusive lock on the directory and on a file in it, which is created if need be, and writes `owner`
  /// into the file if there is space. The lock ends with the process at the latest; a clean release empties the file.
  /// Fails with `.locked` and the present owner's text.
  func lock(_ name: String, owner: [UInt8]) throws(FileError) -> any FileLock
  /// From now on files are created with the permissions of an existing file.
  func adoptPermissions(of name: String) throws(FileError)
  /// From now on files are created with these permissions.
  func usePermissions(_ permissions: FilePermissions)
  func close()
}

/// Who may read and write a file.
package struct FilePermissions: Hashable, Sendable {
  /// The bits as `chmod` takes them: `0o600` gives access to the owner only.
  package var bits: UInt16

  package init(bits: UInt16) { self.bits = bits & 0o777 }

  package static let `private` = FilePermissions(bits: 0o600)

  /// Permissions for the directory of files with these permissions: whoever may read the files may also search the
  /// directory.
  var ofDirectory: FilePermissions { FilePermissions(bits: bits | (bits & 0o444) >> 2) }
}

/// Operations by path, for a single use.
extension FileLayer {
  package func createDirectory(_ path: String) throws(FileError) { try createDirectory(path, .private) }

  package func list(_ path: String) throws(FileError) -> [String] { try directory(path).list() }

  package func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
    let (parent, name) = Self.split(path)
    return try directory(parent).open(name, mode)
  }

  package func remove(_ path: String) throws(FileError) {
    let (parent, name) = Self.split(path)
    try directory(parent).remove(name)
  }

  package func syncDirectory(_ path: String) throws(FileError) { try directory(path).sync() }

  package func rename(_ source: String, to target: String) throws(FileError) {
    let (parent, name) = Self.split(source)
    guard Self.split(target).parent == parent else { fatalError("a file can be renamed only within its directory") }
    try directory(parent).rename(name, to: Self.split(target).name)
  }

  package func identity(_ path: String) throws(FileError) -> FileIdentity { try directory(path).identity }

  package func lock(_ path: String, owner: [UInt8]) throws(FileError) -> any FileLock {
    let (parent, name) = Self.split(path)
    return try directory(parent).lock(name, owner: owner)
  }

  /// The directory that holds a path's last name, and that name.
  package static func split(_ path: String) -> (parent: String, name: String) {
    var rest = Substring(path)
    while rest.last == "/", rest.count > 1 { rest.removeLast() }
    guard let slash = rest.lastIndex(of: "/") else { return (".", String(rest)) }
    return (slash == rest.startIndex ? "/" : String(rest[..<slash]), String(rest[rest.index(after: slash)...]))
  }
}

package enum FileMode: Sendable {
  case read
  case readWrite
  /// Fails if the file exists.
  case create
}

/// One open file. `write`, `reserve`, `truncate` and `sync` are called by one thread at a time,
/// except that `sync` may run beside `write`.
package protocol File: AnyObject, Sendable {
  /// For messages.
  var path: String { get }
  func size() throws(FileError) -> Int
  /// An offset at or after the last byte that was ever written: from there on the file reads as zeros, however long it
  /// is.
  func contentEnd() throws(FileError) -> Int
  /// Reads until the buffer is full or the file ends; returns the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int
  /// Writes all bytes or fails; after a failure the range written to has no defined content.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError)
  /// Makes sure that writing to bytes `0..<size` cannot fail for lack of space, and that the file is at least that
  /// long. New bytes read as zero. Fails with `.noSpace` and changes nothing.
  func reserve(_ size: Int) throws(FileError)
  func truncate(_ size: Int) throws(FileError)
  /// Makes the file's bytes and size durable, not its name.
  func sync() throws(FileError)
  /// The file's bytes as shared read-only memory, valid until the mapping goes away, even after the
  /// file is closed or removed. Bytes written later appear in it; those past the file's end must
  /// not be touched.
  func map(_ length: Int) throws(FileError) -> any Mapping
  /// The file's bytes as memory that can be written to without changing the file. Only for a file that does not change.
  func mapPrivately(_ length: Int) throws(FileError) -> PrivateMapping
  func close()
}

/// Read-only memory that shows a file.
package protocol Mapping: AnyObject, Sendable {
  var base: UnsafeRawPointer { get }
  var length: Int { get }
}

package protocol FileLock: AnyObject, Sendable {
  func release()
  /// Closes this process's copy, and leaves the lock to the process that took it.
  func abandon()
}

package struct FileIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// A failed call of the file layer: what was asked, of which path, and why it failed.
package struct FileError: Error, Hashable, Sendable {
  package enum Cause: Error, Hashable, Sendable {
    case notFound
    case exists
    case noPermission
    case noSpace
    /// This process, or the system, has reached its limit of open files.
    case noDescriptors
    case noMemory
    /// Not a regular file: a link, a pipe, a device.
    case notAFile
    /// Longer than a file of its kind can be.
    case tooLong
    case locked(owner: [UInt8])
    /// Any other `errno` value.
    case system(Int32)
  }

  package var cause: Cause
  /// Whether the process lacks a resource, so that the error says nothing about the file.
  package var isShortage: Bool { cause == .noDescriptors || cause == .noMemory }
  package var operation: String
  package var path: String

  package init(_ cause: Cause, _ operation: String, _ path: String) {
    self.cause = cause
    self.operation = operation
    self.path = path
  }
}
