import CCairnPlatform

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

  private static let largePage = 2 << 20

  /// Copies what lies in a range at once, into memory that is asked for in large pages: small ones that are copied when
  /// they are written to take longer. What does not fill a large page is left.
  func copy(_ range: Range<Int>) {
    let large = Self.largePage
    let spare = UnsafeMutableRawPointer.allocate(byteCount: large, alignment: 64)
    defer { unsafe spare.deallocate() }
    let start = unsafe UInt(bitPattern: base) + UInt(range.lowerBound)
    var offset = range.lowerBound + Int((0 &- start) & UInt(large - 1))
    while offset + large <= range.upperBound {
      let page = unsafe base + offset
      unsafe spare.copyMemory(from: page, byteCount: large)
      let mapped = unsafe mmap(page, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0)
      guard unsafe mapped == page else { preconditionFailure("out of memory") }
      unsafe cairn_advise_huge(page, large)
      unsafe page.copyMemory(from: spare, byteCount: large)
      offset += large
    }
  }

  deinit { unsafe munmap(base, length) }
}
