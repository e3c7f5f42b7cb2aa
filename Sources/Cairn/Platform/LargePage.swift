import CCairnPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory of 2 MiB whose addresses are translated by one entry of the processor's page tables instead of 512.
@safe struct LargePage: ~Copyable {
  static let size = 2 << 20

  private let memory: UnsafeMutableRawPointer

  /// nil if the system has no large page.
  init?() {
    guard let memory = unsafe cairn_map_huge(Self.size) else { return nil }
    unsafe self.memory = unsafe memory
  }

  deinit { unsafe munmap(memory, Self.size) }

  /// Addresses in a memory range at which whole large pages fit.
  static func starts(in memory: UnsafeMutableRawBufferPointer) -> [UnsafeMutableRawPointer] {
    guard let base = memory.baseAddress else { return unsafe [] }
    let first = Int((0 &- UInt(bitPattern: base)) & UInt(size - 1))
    return unsafe stride(from: first, through: memory.count - size, by: size).map { unsafe base + $0 }
  }

  /// Replaces the small pages at `start` by this large page, with their content, for all threads at once: a thread that
  /// reads there finds the same bytes all the time. No thread may write there meanwhile. The small pages stay if the
  /// process may have no more mappings.
  consuming func replace(_ start: UnsafeMutableRawPointer) {
    unsafe memory.copyMemory(from: start, byteCount: Self.size)
    guard unsafe cairn_move_mapping(memory, start, Self.size) == 0 else {
      // Linux checks the number of mappings before it removes the small pages. Other failures may come after that.
      guard unsafe msync(start, Self.size, MS_ASYNC) == 0 else { fatalError("out of memory") }
      _ = consume self
      return
    }
    discard self
  }
}
