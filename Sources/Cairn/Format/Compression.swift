import CLZ4
import Synchronization

/// Compresses one value at a time into LZ4 blocks that can be read on their own, or with nothing but a dictionary. The
/// same value always gives the same block, whatever was compressed before it.
///
/// The state is used for nothing else: between values it is only reset, which costs far less than clearing its 16 KiB
/// as long as every call is of the same kind.
@safe package struct LZ4Compressor: ~Copyable, @unchecked Sendable {
  /// Shorter values are not tried.
  package static let shortestValue = 40
  /// Longer values are compressed without a dictionary: each serves as its own.
  package static let longestValueWithDictionary = DictionaryEncoder.longestValue

  private let state: UnsafeMutablePointer<LZ4_stream_t>
  private var encoder = DictionaryEncoder()

  package init() {
    let state = UnsafeMutablePointer<LZ4_stream_t>.allocate(capacity: 1)
    unsafe LZ4_initStream(state, MemoryLayout<LZ4_stream_t>.size)
    unsafe self.state = state
  }

  deinit { unsafe state.deallocate() }

  /// The most bytes that a compressed value of the given length may take; a value that needs more is stored
  /// uncompressed. 0 if compressing is not tried.
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

  /// Compresses with a dictionary, for values of at most ``longestValueWithDictionary`` bytes.
  package mutating func compress(
    _ value: UnsafeRawBufferPointer, with dictionary: LZ4Dictionary, into target: UnsafeMutableRawPointer
  ) -> Int? {
    let limit = Self.limit(value.count)
    guard limit > 0 else { return nil }
    return unsafe encoder.compress(value, dictionary.bytes, dictionary.tables, into: target, limit: limit)
  }
}

/// Bytes that LZ4 treats as if they directly preceded each value. Their address never changes.
@safe package final class LZ4Dictionary: @unchecked Sendable {
  package static let maximumLength = 1 << 16

  package let bytes: UnsafeRawBufferPointer
  /// nil until the first value is compressed.
  private let positions = unsafe Atomic<UnsafeMutablePointer<UInt16>?>(nil)

  /// Takes at most ``maximumLength`` bytes.
  package init(_ content: UnsafeRawBufferPointer) {
    guard content.count <= Self.maximumLength else { fatalError("a dictionary is too long") }
    // Some memory follows the content: LZ4 would compress a value that follows a dictionary directly in another
    // way, and give another block.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count + 64, alignment: 64)
    unsafe memory.copyMemory(from: content)
    unsafe bytes = UnsafeRawBufferPointer(rebasing: memory[..<content.count])
  }

  deinit {
    unsafe positions.load(ordering: .acquiring)?.deallocate()
    unsafe bytes.deallocate()
  }

  /// The tables for compressing, made when they are first needed.
  fileprivate var tables: DictionaryEncoder.Tables {
    if let known = unsafe positions.load(ordering: .acquiring) {
      return unsafe DictionaryEncoder.Tables(existing: known)
    }
    let made = unsafe DictionaryEncoder.Tables(bytes)
    let (isFirst, known) = unsafe positions.compareExchange(
      expected: nil, desired: made.memory, ordering: .acquiringAndReleasing)
    if isFirst { return made }
    unsafe made.memory.deallocate()
    return unsafe DictionaryEncoder.Tables(existing: known.unsafelyUnwrapped)
  }
}

/// Compresses values at LZ4's high level into blocks of the same kind. With a dictionary, a value of 800 bytes takes
/// some 17 µs, where ``LZ4Compressor`` takes 2; the block is seven eighths as long.
///
/// Much of the time is spent on copying the dictionary's state, 256 KiB, before each value; hashing the dictionary
/// again for each value would take many times as long.
@safe package struct LZ4HighCompressor: ~Copyable, @unchecked Sendable {
  private static let level: Int32 = 9

  private let dictionary: LZ4Dictionary?
  private let prepared: UnsafeMutablePointer<LZ4_streamHC_t>
  private let state: UnsafeMutablePointer<LZ4_streamHC_t>

  package init(_ dictionary: LZ4Dictionary? = nil) {
    self.dictionary = dictionary
    unsafe prepared = .allocate(capacity: 1)
    unsafe state = .allocate(capacity: 1)
    unsafe LZ4_initStreamHC(prepared, MemoryLayout<LZ4_streamHC_t>.size)
    unsafe LZ4_resetStreamHC_fast(prepared, Self.level)
    unsafe state.initialize(from: prepared, count: 1)
    if let dictionary {
      _ = unsafe LZ4_loadDictHC(
        prepared, dictionary.bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(truncatingIfNeeded: dictionary.bytes.count))
    }
  }

  deinit {
    unsafe prepared.deallocate()
    unsafe state.deallocate()
  }

  /// Writes the block into `target`, which has room for `below` bytes; returns its length, or nil if compressing
  /// doesn't save enough or the block isn't shorter than `below`, the length of the value as it is stored now.
  package mutating func compress(
    _ value: UnsafeRawBufferPointer, below: Int, into target: UnsafeMutableRawPointer
  ) -> Int? {
    let limit = min(LZ4Compressor.limit(value.count), below - 1)
    guard limit > 0, let source = value.baseAddress else { return nil }
    if dictionary != nil {
      unsafe state.update(from: prepared, count: 1)
    } else {
      unsafe LZ4_resetStreamHC_fast(state, Self.level)
    }
    let length = unsafe LZ4_compress_HC_continue(
      state, source.assumingMemoryBound(to: CChar.self), target.assumingMemoryBound(to: CChar.self),
      Int32(value.count), Int32(limit))
    return length > 0 ? Int(length) : nil
  }
}

/// Decompresses LZ4 blocks.
package enum LZ4 {
  /// Whether a block of `stored` bytes can hold a value of `raw` bytes: to be checked before memory is allocated for
  /// the value.
  @inline(__always)
  package static func isPlausible(stored: Int, raw: Int) -> Bool {
    stored > 0 && raw >= 0 && raw <= 1 << 30 && stored <= 1 << 30 && raw <= 255 * stored + 16
  }

  /// Fills `target` exactly; returns false if the block doesn't hold exactly that many bytes. `dictionary` has at most
  /// 64 KiB.
  @inline(__always)
  package static func decompress(
    _ block: UnsafeRawBufferPointer, with dictionary: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard isPlausible(stored: block.count, raw: target.count), dictionary.count <= LZ4Dictionary.maximumLength,
      let source = block.baseAddress, let base = target.baseAddress
    else { return false }
    let length = unsafe LZ4_decompress_safe_usingDict(
      source.assumingMemoryBound(to: CChar.self), base.assumingMemoryBound(to: CChar.self),
      Int32(truncatingIfNeeded: block.count), Int32(truncatingIfNeeded: target.count),
      dictionary.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: dictionary.count))
    return Int(length) == target.count
  }

  /// Decompresses a block that was made without a dictionary.
  @inline(__always)
  package static func decompress(_ block: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
    guard isPlausible(stored: block.count, raw: target.count), let source = block.baseAddress else { return false }
    var nothing: CChar = 0
    let length = unsafe withUnsafeMutablePointer(to: &nothing) { nothing in
      unsafe LZ4_decompress_safe(
        source.assumingMemoryBound(to: CChar.self),
        target.baseAddress?.assumingMemoryBound(to: CChar.self) ?? nothing, Int32(truncatingIfNeeded: block.count),
        Int32(truncatingIfNeeded: target.count))
    }
    return Int(length) == target.count
  }
}
