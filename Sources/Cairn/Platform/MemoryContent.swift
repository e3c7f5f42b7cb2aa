#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension MemoryFileLayer {
  /// Zeros that take no memory until they are written to.
  @safe final class Region: Sendable {
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    let length: Int

    init(_ length: Int) throws(FileError.Cause) {
      let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
      guard let base = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe base != MAP_FAILED else {
        throw .system(errno)
      }
      unsafe self.base = base
      self.length = length
    }

    deinit { unsafe munmap(base, length) }
  }

  /// One file's bytes, and for each block that has changed since, what it was when the file was last synced.
  struct Content: Sendable {
    typealias Cause = FileError.Cause

    private struct OldBlock {
      /// Empty for zeros.
      var bytes: [UInt8]
      /// A sync of it failed: another one does nothing for it.
      var isAbandoned = false
    }

    /// What a sync covers.
    struct Unsynced: Sendable {
      fileprivate var size: Int
      fileprivate var blocks: [Int: [UInt8]]
    }

    private static let block = 512

    private var region: Region
    private(set) var size = 0
    private var durableSize = 0
    private var old: [Int: OldBlock] = [:]

    init(length: Int = 256 << 20) throws(Cause) { region = try Region(length) }

    var bytes: [UInt8] {
      unsafe Array(UnsafeRawBufferPointer(start: region.base, count: size))
    }

    mutating func region(of length: Int) throws(Cause) -> Region {
      try extend(to: length)
      return region
    }

    /// Memory shown by a mapping cannot move.
    private mutating func extend(to length: Int) throws(Cause) {
      if length <= region.length { return }
      guard isKnownUniquelyReferenced(&region) else { throw .system(ENOMEM) }
      let larger = try Region(max(length, 2 * region.length))
      larger.copy(region, size)
      region = larger
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
      let count = min(buffer.count, size - offset)
      guard count > 0, let target = buffer.baseAddress else { return 0 }
      unsafe target.copyMemory(from: region.base + offset, byteCount: count)
      return count
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ space: inout Volume.Space) throws(Cause) {
      guard let source = bytes.baseAddress, bytes.count > 0 else { return }
      guard offset >= 0 else { throw .system(EINVAL) }
      try grow(to: offset + bytes.count, &space)
      for block in blocks(offset..<offset + bytes.count) { keep(block) }
      unsafe (region.base + offset).copyMemory(from: source, byteCount: bytes.count)
    }

    mutating func grow(to size: Int, _ space: inout Volume.Space) throws(Cause) {
      if size <= self.size { return }
      let added = size - self.size
      if let capacity = space.capacity, space.used + added > capacity { throw .noSpace }
      try extend(to: size)
      space.used += added
      self.size = size
    }

    mutating func truncate(_ size: Int, _ space: inout Volume.Space) throws(Cause) {
      guard size >= 0 else { throw .system(EINVAL) }
      if size >= self.size { return try grow(to: size, &space) }
      for block in blocks(size..<self.size) where unsafe !Self.isZero(region.base + block * Self.block, Self.block) {
        keep(block)
        let start = max(block * Self.block, size)
        unsafe (region.base + start).initializeMemory(
          as: UInt8.self, repeating: 0, count: (block + 1) * Self.block - start)
      }
      space.used -= self.size - size
      self.size = size
    }

    mutating func clear(_ space: inout Volume.Space) {
      do throws(Cause) { try truncate(0, &space) } catch { preconditionFailure("making a file shorter cannot fail") }
    }

    // MARK: Durability

    private func blocks(_ range: Range<Int>) -> Range<Int> {
      range.lowerBound / Self.block..<(range.upperBound + Self.block - 1) / Self.block
    }

    private func current(_ block: Int) -> [UInt8] {
      unsafe Array(UnsafeRawBufferPointer(start: region.base + block * Self.block, count: Self.block))
    }

    private mutating func keep(_ block: Int) {
      guard old[block] == nil else {
        old[block]?.isAbandoned = false
        return
      }
      let isZero = unsafe Self.isZero(region.base + block * Self.block, Self.block)
      old[block] = OldBlock(bytes: isZero ? [] : current(block))
    }

    func unsynced() -> Unsynced {
      let changed = old.filter { !$0.value.isAbandoned }.keys
      return Unsynced(size: size, blocks: Dictionary(uniqueKeysWithValues: changed.map { ($0, current($0)) }))
    }

    /// Makes durable what was there when the sync started, or now.
    mutating func sync(_ started: Unsynced?) {
      guard let started else {
        old = old.filter { $0.value.isAbandoned }
        durableSize = size
        return
      }
      for (block, bytes) in started.blocks where old[block] != nil {
        if current(block) == bytes { old[block] = nil } else { old[block]?.bytes = bytes }
      }
      durableSize = started.size
    }

    mutating func abandon() {
      for block in old.keys { old[block]?.isAbandoned = true }
    }

    func durable() -> Content {
      var none: SplitMix64?
      return restarted(&none)
    }

    func durable(using random: inout some RandomNumberGenerator) -> Content {
      var own: SplitMix64? = SplitMix64(seed: random.next())
      return restarted(&own)
    }

    private func restarted(_ random: inout SplitMix64?) -> Content {
      guard var result = try? Content(length: region.length) else {
        preconditionFailure("no memory for a file after a crash")
      }
      let keepsSize = random != nil && Bool.random(using: &random!)
      result.size = keepsSize ? size : durableSize
      result.durableSize = result.size
      result.region.copy(region, result.size)
      for block in old.keys.sorted() {
        let start = block * Self.block
        let lost = random == nil ? 0..<Self.block : Self.lostPart(&random!)
        for index in lost where start + index < result.size {
          let byte = old[block].map { $0.bytes.isEmpty ? 0 : $0.bytes[index] } ?? 0
          unsafe result.region.base.storeBytes(of: byte, toByteOffset: start + index, as: UInt8.self)
        }
      }
      return result
    }

    private static func lostPart(_ random: inout SplitMix64) -> Range<Int> {
      let tear = Int.random(in: 1..<block, using: &random)
      return switch UInt8.random(in: 0..<4, using: &random) {
      case 0: 0..<0
      case 1: 0..<block
      case 2: 0..<tear
      default: tear..<block
      }
    }

    fileprivate static func isZero(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
      unsafe bytes.load(as: UInt8.self) == 0 && memcmp(bytes, bytes + 1, count - 1) == 0
    }
  }
}

extension MemoryFileLayer.Region {
  /// Copies the first bytes of another region, pages of zeros excepted, so that they take no memory here either.
  fileprivate func copy(_ other: MemoryFileLayer.Region, _ count: Int) {
    for start in stride(from: 0, to: count, by: 4096)
    where unsafe !MemoryFileLayer.Content.isZero(other.base + start, 4096) {
      unsafe (base + start).copyMemory(from: other.base + start, byteCount: min(4096, count - start))
    }
  }
}
