import CCairnPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory whose addresses are translated by one entry of the processor's tables instead of 512.
@safe struct LargePage: ~Copyable {
  static let size = 2 << 20

  private let memory: UnsafeMutableRawPointer

  /// nil where the system has none.
  init?() {
    guard let memory = unsafe cairn_map_huge(Self.size) else { return nil }
    unsafe self.memory = unsafe memory
  }

  deinit { unsafe munmap(memory, Self.size) }

  /// Where whole ones have room in some memory.
  static func starts(in memory: UnsafeMutableRawBufferPointer) -> [UnsafeMutableRawPointer] {
    guard let base = memory.baseAddress else { return unsafe [] }
    let first = Int((0 &- UInt(bitPattern: base)) & UInt(size - 1))
    return unsafe stride(from: first, through: memory.count - size, by: size).map { unsafe base + $0 }
  }

  /// Takes the place of the small pages that lie in such a room, with what is in them, for all threads at once: who reads
  /// there finds the same bytes all along. Nobody may write there meanwhile.
  consuming func replace(_ start: UnsafeMutableRawPointer) {
    unsafe memory.copyMemory(from: start, byteCount: Self.size)
    let problem = unsafe cairn_move_mapping(memory, start, Self.size)
    precondition(problem == 0, "out of memory")
    discard self
  }
}
