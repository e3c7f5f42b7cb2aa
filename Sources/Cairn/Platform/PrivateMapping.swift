#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory of the process alone that begins as a file's bytes: pages are copied when they are first written to.
@safe package final class PrivateMapping: Sendable {
  package nonisolated(unsafe) let base: UnsafeMutableRawPointer
  package let length: Int

  /// Maps an open file, or memory that is all zeros without one.
  init(_ descriptor: Int32?, _ length: Int) throws(FileError.Cause) {
    let flags = descriptor == nil ? MAP_PRIVATE | MAP_ANON : MAP_PRIVATE
    let base = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, flags, descriptor ?? -1, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else { throw .system(errno) }
    unsafe self.base = base
    self.length = length
  }

  func memory(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  deinit { unsafe munmap(base, length) }
}
