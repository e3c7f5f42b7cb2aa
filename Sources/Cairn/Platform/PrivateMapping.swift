#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory of this process alone that begins with a file's bytes: a page is copied when it is first written to.
@safe package final class PrivateMapping: Sendable {
  package nonisolated(unsafe) let base: UnsafeMutableRawPointer
  package let length: Int

  /// Maps an open file or, without a descriptor, memory that is all zeros.
  package init(_ descriptor: Int32?, _ length: Int) throws(FileError.Cause) {
    let flags = descriptor == nil ? MAP_PRIVATE | MAP_ANON : MAP_PRIVATE
    let base = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, flags, descriptor ?? -1, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else { throw .init(errno) }
    unsafe self.base = base
    self.length = length
  }

  func memory(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  deinit { unsafe munmap(base, length) }
}
