/// Everything the engine asks of a file system. There is one real implementation, `SystemFileLayer`,
/// and one that simulates a machine that can crash, `MemoryFileLayer`; nothing above this floor
/// knows which one it has.
///
/// Names are plain paths. Every method may be called from any thread.
package protocol FileLayer: Sendable {
  /// Creates one directory; an existing one is not an error.
  func createDirectory(_ path: String) throws(FileError)
  /// The names in a directory, sorted, without `.` and `..`.
  func list(_ directory: String) throws(FileError) -> [String]
  func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File
  func rename(_ source: String, to target: String) throws(FileError)
  func remove(_ path: String) throws(FileError)
  /// Makes the names in a directory durable: creations, renames and removals in it.
  func syncDirectory(_ path: String) throws(FileError)
  /// What tells one directory from every other, whatever path leads to it.
  func identity(_ path: String) throws(FileError) -> FileIdentity
  /// Takes the exclusive lock on a file, creating it if need be, and writes `owner` into it if there is space.
  /// The lock ends with the process at the latest; a clean release empties the file.
  /// Fails with `.locked` and the present owner's text.
  func lock(_ path: String, owner: [UInt8]) throws(FileError) -> any FileLock
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
  func size() throws(FileError) -> Int
  /// Reads until the buffer is full or the file ends; returns the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int
  /// Writes all bytes or fails; after a failure the range written to has no defined content.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError)
  /// Makes sure that writing to bytes `0..<size` cannot fail for want of space, and that the file
  /// is that long. New bytes read as zero. Fails with `.noSpace` and changes nothing.
  func reserve(_ size: Int) throws(FileError)
  func truncate(_ size: Int) throws(FileError)
  /// Makes the file's bytes and size durable, not its name.
  func sync() throws(FileError)
  /// The file's bytes as shared read-only memory, valid until the mapping goes away, even after the
  /// file is closed or removed. Bytes written later appear in it; those past the file's end must
  /// not be touched.
  func map(_ length: Int) throws(FileError) -> any Mapping
  /// The file's bytes as memory that may be written to without changing the file. For a file that nobody changes.
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
    case locked(owner: [UInt8])
    /// Any other `errno` value.
    case system(Int32)
  }

  package var cause: Cause
  package var operation: String
  package var path: String

  package init(_ cause: Cause, _ operation: String, _ path: String) {
    self.cause = cause
    self.operation = operation
    self.path = path
  }
}
