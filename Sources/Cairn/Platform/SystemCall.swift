import CCairnPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileError.Cause {
  package init(_ code: Int32) {
    switch code {
    case ENOENT: self = .notFound
    case EEXIST: self = .exists
    case EACCES, EPERM, EROFS: self = .noPermission
    case ENOSPC, EDQUOT: self = .noSpace
    case EMFILE, ENFILE: self = .noDescriptors
    case ENOMEM: self = .noMemory
    default: self = .system(code)
    }
  }
}

/// Makes a call that reports failure as -1 and `errno`; repeats it if it was interrupted.
func attempt<T: SignedInteger>(
  _ operation: String, _ path: String, _ call: () -> T
) throws(FileError) -> T {
  while true {
    let result = call()
    if result != -1 { return result }
    let code = errno
    if code != EINTR { throw FileError(.init(code), operation, path) }
  }
}

/// Makes a call that returns an `errno` value; repeats it if it was interrupted.
func check(_ operation: String, _ path: String, _ call: () -> Int32) throws(FileError) {
  while true {
    let code = call()
    if code == 0 { return }
    if code != EINTR { throw FileError(.init(code), operation, path) }
  }
}

/// The system's text for an `errno` value.
func systemErrorText(_ code: Int32) -> String {
  var text = [CChar](repeating: 0, count: 128)
  unsafe cairn_error_text(code, &text, text.count)
  let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  return bytes.isEmpty ? "error \(code)" : "\(String(decoding: bytes, as: UTF8.self).lowercased()) (error \(code))"
}

func status(_ operation: String, _ path: String, _ descriptor: Int32) throws(FileError) -> stat {
  var status = stat()
  _ = try attempt(operation, path) { unsafe fstat(descriptor, &status) }
  return status
}

// Functions, because methods of the same name hide the system's calls.
func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
func openFile(_ directory: Int32, _ name: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  unsafe openat(directory, name, flags | O_CLOEXEC, mode)
}
func renameFile(_ directory: Int32, _ source: String, _ target: String) -> Int32 {
  unsafe renameat(directory, source, directory, target)
}
func linkFile(_ directory: Int32, _ name: String, _ otherDirectory: Int32, _ otherName: String) -> Int32 {
  unsafe linkat(directory, name, otherDirectory, otherName, 0)
}
func flockDescriptor(_ descriptor: Int32, _ operation: Int32) -> Int32 { flock(descriptor, operation) }
