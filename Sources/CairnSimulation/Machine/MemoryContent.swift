import Cairn

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension MemoryFileLayer {
  /// Zeroed memory that takes no space until it is written to.
  @safe final class Region: Sendable {
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    let length: Int

    init(_ length: Int) throws(FileError.Cause) {
      let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
      guard let base = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe base != MAP_FAILED else {
        throw .init(errno)
      }
      unsafe self.base = base
      self.length = length
    }

    deinit { unsafe munmap(base, length) }
  }

  /// One file's bytes, and for each block that has changed since the file was last synced, its content at that time.
  struct Content: Sendable {
    typealias Cause = FileError.Cause

    private struct OldBlock {
      /// Empty for zeros.
      var bytes: [UInt8]
      /// Whether a sync of it failed: another sync does not make it durable.
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
    /// Only zeros have ever been written from this offset on: such memory is neither read nor copied.
    private var touched = 0
    private var old: [Int: OldBlock] = [:]
    private var hasFailed = false

    init(length: Int = 256 << 20) throws(Cause) { region = try Region(length) }

    var bytes: [UInt8] {
      unsafe Array(UnsafeRawBufferPointer(start: region.base, count: size))
    }

    mutating func region(of length: Int) throws(Cause) -> Region {
      try extend(to: length)
      return region
    }

    /// Memory that a mapping shows cannot move.
    private mutating func extend(to length: Int) throws(Cause) {
      if length <= region.length { return }
      guard isKnownUniquelyReferenced(&region) else { throw .noMemory }
      let larger = try Region(max(length, 2 * region.length))
      larger.copy(region, min(size, touched))
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
      if offset >= touched, unsafe Self.isZero(source, bytes.count) { return }
      for block in blocks(offset..<offset + bytes.count) { keep(block) }
      unsafe (region.base + offset).copyMemory(from: source, byteCount: bytes.count)
      touched = max(touched, offset + bytes.count)
    }

    /// Flips bits of a byte on the disk itself: the durable content changes too.
    mutating func flip(_ mask: UInt8, at offset: Int) {
      guard offset < size else { return }
      let flipped = unsafe region.base.load(fromByteOffset: offset, as: UInt8.self) ^ mask
      unsafe region.base.storeBytes(of: flipped, toByteOffset: offset, as: UInt8.self)
      touched = max(touched, offset + 1)
      let (block, index) = offset.quotientAndRemainder(dividingBy: Self.block)
      guard var bytes = old[block]?.bytes else { return }
      if bytes.isEmpty { bytes = [UInt8](repeating: 0, count: Self.block) }
      bytes[index] ^= mask
      old[block]?.bytes = bytes
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
      for block in blocks(size..<max(size, min(self.size, touched)))
      where unsafe !Self.isZero(region.base + block * Self.block, Self.block) {
        keep(block)
        let start = max(block * Self.block, size)
        unsafe (region.base + start).initializeMemory(
          as: UInt8.self, repeating: 0, count: (block + 1) * Self.block - start)
      }
      space.used -= self.size - size
      self.size = size
      touched = min(touched, size)
    }

    mutating func clear(_ space: inout Volume.Space) {
      do throws(Cause) { try truncate(0, &space) } catch { fatalError("making a file shorter cannot fail") }
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
      let start = block * Self.block
      let isZero = unsafe start >= touched || Self.isZero(region.base + start, Self.block)
      old[block] = OldBlock(bytes: isZero ? [] : current(block))
    }

    func unsynced() -> Unsynced {
      let changed = old.filter { !$0.value.isAbandoned }.keys
      return Unsynced(size: size, blocks: Dictionary(uniqueKeysWithValues: changed.map { ($0, current($0)) }))
    }

    /// Makes durable the content at the start of the sync or, for nil, the present one.
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
      hasFailed = true
    }

    /// True once after a failed sync: the present sync reports success also for bytes that the failed one has not made
    /// durable, unless they have been written again.
    mutating func takeFailure() -> Bool {
      defer { hasFailed = false }
      return hasFailed
    }

    /// The content of the disk after a crash that `fates` decides.
    func afterCrash(_ fates: inout CrashFates) -> Content {
      var result = copy()
      result.old = [:]
      result.size = fates.size(durable: durableSize, current: size)
      result.durableSize = result.size
      for block in old.keys.sorted() where block * Self.block < result.size {
        let start = block * Self.block
        let before = old[block]?.bytes ?? []
        for index in fates.lostPart(ofBlock: Self.block, wasZero: before.isEmpty) where start + index < result.size {
          let byte = before.isEmpty ? 0 : before[index]
          unsafe result.region.base.storeBytes(of: byte, toByteOffset: start + index, as: UInt8.self)
        }
        result.touched = max(result.touched, min(start + Self.block, result.size))
      }
      result.clearBehindEnd()
      return result
    }

    /// The same content in memory of its own.
    func copy() -> Content {
      // There may be very many copies, so each gets little address space to grow into.
      guard let memory = try? Region(max(2 * max(size, durableSize), 4 << 20)) else {
        fatalError("no memory for the copy of a file")
      }
      var result = self
      result.region = memory
      memory.copy(region, touched)
      return result
    }

    /// The bytes after a file's end must be zeros, because they become visible when the file grows.
    private mutating func clearBehindEnd() {
      guard touched > size else { return }
      unsafe (region.base + size).initializeMemory(as: UInt8.self, repeating: 0, count: touched - size)
      touched = size
    }

    fileprivate static func isZero(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
      unsafe bytes.load(as: UInt8.self) == 0 && memcmp(bytes, bytes + 1, count - 1) == 0
    }
  }
}

extension MemoryFileLayer.Region {
  /// Copies the first bytes of another region except pages of zeros, which so take no space here either.
  fileprivate func copy(_ other: MemoryFileLayer.Region, _ count: Int) {
    for start in stride(from: 0, to: count, by: 4096)
    where unsafe !MemoryFileLayer.Content.isZero(other.base + start, 4096) {
      unsafe (base + start).copyMemory(from: other.base + start, byteCount: min(4096, count - start))
    }
  }
}
