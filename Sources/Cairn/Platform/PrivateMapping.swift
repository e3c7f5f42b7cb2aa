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

  /// Where there is room for whole large pages in a range.
  func largePages(in range: Range<Int>) -> StrideTo<Int> {
    let start = unsafe UInt(bitPattern: base) + UInt(range.lowerBound)
    let first = range.lowerBound + Int((0 &- start) & UInt(Self.largePage - 1))
    return stride(from: first, to: range.upperBound - Self.largePage + 1, by: Self.largePage)
  }

  /// Moves what lies in such a room into a large page, if the system has one. `alone` is to call what it is given while
  /// nobody writes there; who reads finds the same bytes at the same place all along.
  func moveToLargePage(_ offset: Int, alone: (() -> Void) -> Void) {
    guard let large = unsafe cairn_map_huge(Self.largePage) else { return }
    alone {
      let old = unsafe base + offset
      unsafe large.copyMemory(from: old, byteCount: Self.largePage)
      let problem = unsafe cairn_move_mapping(large, old, Self.largePage)
      precondition(problem == 0, "out of memory")
    }
  }

  deinit { unsafe munmap(base, length) }
}
