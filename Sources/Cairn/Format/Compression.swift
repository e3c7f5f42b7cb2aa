import CLZ4

/// Compresses one value at a time into LZ4 blocks that need nothing else to be read. The same value always gives the
/// same block, whatever came before it.
///
/// The state is used for this alone: between values it is only told to forget, which costs far less than clearing its
/// 16 KiB as long as every call is of the same sort.
@safe package struct LZ4Compressor: ~Copyable, @unchecked Sendable {
  /// Shorter values are not tried.
  package static let shortestValue = 40

  private let state: UnsafeMutablePointer<LZ4_stream_t>

  package init() {
    let state = UnsafeMutablePointer<LZ4_stream_t>.allocate(capacity: 1)
    unsafe LZ4_initStream(state, MemoryLayout<LZ4_stream_t>.size)
    unsafe self.state = state
  }

  deinit { unsafe state.deallocate() }

  /// The most bytes a compressed value of the given length takes; more, and it is stored as it is. 0 if it isn't tried.
  @inline(__always)
  package static func limit(_ count: Int) -> Int {
    count < shortestValue || count > LZ4_MAX_INPUT_SIZE ? 0 : count - max(8, (count * 6 + 99) / 100)
  }

  /// Writes the block into `target`, which has room for ``limit(_:)`` bytes; returns its length, or nil if compressing
  /// doesn't save enough.
  package mutating func compress(_ value: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer) -> Int? {
    let limit = Self.limit(value.count)
    guard limit > 0, let source = value.baseAddress else { return nil }
    unsafe LZ4_resetStream_fast(state)
    let length = unsafe LZ4_compress_fast_continue(
      state, source.assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
      Int32(value.count), Int32(limit), 1)
    return length > 0 ? Int(length) : nil
  }
}

/// Reads LZ4 blocks.
package enum LZ4 {
  /// Whether a block of `stored` bytes can hold a value of `raw` bytes: to be asked before room is made for it.
  @inline(__always)
  package static func isPlausible(stored: Int, raw: Int) -> Bool {
    stored > 0 && raw >= 0 && raw <= 1 << 30 && stored <= 1 << 30 && raw <= 255 * stored + 16
  }

  /// Fills `target` exactly; false if the block doesn't hold exactly that many bytes.
  package static func decompress(_ block: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
    guard isPlausible(stored: block.count, raw: target.count), let source = block.baseAddress else { return false }
    var nothing: CChar = 0
    let length = unsafe withUnsafeMutablePointer(to: &nothing) { nothing in
      unsafe LZ4_decompress_safe(
        source.assumingMemoryBound(to: CChar.self),
        target.baseAddress?.assumingMemoryBound(to: CChar.self) ?? nothing, Int32(block.count), Int32(target.count))
    }
    return Int(length) == target.count
  }
}
