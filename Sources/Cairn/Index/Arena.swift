import CCairnPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of the indexes: one flat space addressed by 32-bit numbers in units of 64 bytes. It contains no pointers.
///
/// Chunks of 2 MiB lie in large pages, because a lookup in a large index mostly waits for address translation. While
/// there are few chunks, the last one is in small pages until it is full, so that memory which is not used yet is not
/// taken from the system. Only the writer allocates and retires; readers only follow addresses.
@safe final class Arena: @unchecked Sendable {
  private static let unit = 64
  private static let chunkUnits = 1 << 15
  private static let chunkBytes = LargePage.size
  /// With this many chunks, the unused part of one hardly matters.
  private static let manyChunks = 64
  private static let maximumChunks = 1 << 17

  /// The address of zeros that are never written to and never allocated: an empty node of every kind of index, shared
  /// by all indexes without rows. It follows the last chunk.
  static let blank = UInt32(maximumChunks - 1) << 15
  private static let blankSize = 1 << 14

  private let chunks: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  @exclusivity(unchecked) private var chunkCount = 0
  /// The mapping that contains the first chunks, if they come from a checkpoint.
  private var image: PrivateMapping?
  private var imageChunks = 0
  /// The starts of areas that are in small pages and could be in a large page; the last one is moved first.
  private var smallPages: [UnsafeMutableRawPointer] = unsafe []
  private let smallPageCount = Atomic<Int>(0)
  /// Whether the memory of the last chunk is taken from the system only as it is used.
  private var isLastSmall = false
  @exclusivity(unchecked) private var nextUnit = 0
  /// Chunks that `reserve` has mapped and that nothing uses yet.
  @exclusivity(unchecked) private var spareChunks: [UnsafeMutableRawPointer] = unsafe []
  /// Lists of free blocks by their size in units. A free block's first word is the address of the next.
  private var free: [UInt32]
  /// Free blocks larger than a chunk, by their size in units: inner nodes of the longest keys.
  private var freeLarge: [Int: [UInt32]] = [:]
  private let eras: Eras
  private var retired: [Retired] = []
  private var firstRetired = 0
  /// How many retired blocks make it worthwhile to look again for those that can be reused.
  private var reclaimThreshold = 64
  private let footprint = Atomic<Int>(0)

  private struct Retired {
    let address: UInt32
    let units: UInt32
    let era: UInt64
  }

  init(eras: Eras) {
    self.eras = eras
    unsafe chunks = .allocate(capacity: Self.maximumChunks)
    unsafe chunks.initialize(repeating: nil, count: Self.maximumChunks)
    let blank = UnsafeMutableRawPointer.allocate(byteCount: Self.blankSize, alignment: Self.unit)
    unsafe blank.initializeMemory(as: UInt64.self, repeating: 0, count: Self.blankSize / 8)
    unsafe chunks[Self.maximumChunks - 1] = unsafe blank
    free = Array(repeating: 0, count: Self.chunkUnits + 1)
  }

  deinit {
    for chunk in unsafe imageChunks..<chunkCount { unsafe munmap(chunks[chunk], Self.chunkBytes) }
    unsafe spareChunks.forEach { unsafe munmap($0, Self.chunkBytes) }
    unsafe self[Self.blank].deallocate()
    unsafe chunks.deallocate()
  }

  /// Begins with the nodes of a checkpoint, at the addresses that they have there. To be called before anything is
  /// allocated.
  func adopt(_ image: PrivateMapping, length: Int) {
    guard unsafe chunkCount == 0 else { fatalError("the index already has memory") }
    self.image = image
    imageChunks = (length + Self.chunkBytes - 1) / Self.chunkBytes
    unsafe chunkCount = imageChunks
    for chunk in unsafe 0..<chunkCount { unsafe chunks[chunk] = unsafe image.base + chunk * Self.chunkBytes }
    unsafe nextUnit = unsafe chunkCount * Self.chunkUnits
    footprint.store(length, ordering: .relaxed)
    unsafe noteSmallPages(LargePage.starts(in: image.memory(0..<length)).reversed())
  }

  private func noteSmallPages(_ starts: [UnsafeMutableRawPointer]) {
    unsafe smallPages += unsafe starts
    unsafe smallPageCount.store(smallPages.count, ordering: .relaxed)
  }

  // MARK: Large pages

  /// Whether there are chunks in small pages. Lookups there take longer, and pages that came from a checkpoint are
  /// copied when they are first written to.
  var hasSmallPages: Bool { smallPageCount.load(ordering: .relaxed) > 0 }

  /// Moves one area into a large page; if the system has none, gives up moving any. `alone` has to call the closure
  /// that it is given while nobody writes.
  func moveToLargePage(alone: (() -> Void) -> Void) {
    var page = LargePage()
    alone {
      if let page = page.take() {
        if let start = unsafe smallPages.popLast() { unsafe page.replace(start) }
      } else {
        unsafe smallPages.removeAll()
      }
      unsafe noteSmallPages([])
    }
  }

  /// Moves all areas in a range of a checkpoint's bytes, before anybody else uses the arena.
  func moveToLargePages(_ range: Range<Int>) {
    guard let image else { return }
    let chosen = unsafe Set(LargePage.starts(in: image.memory(range)))
    unsafe chosen.forEach { start in
      if let page = LargePage() { unsafe page.replace(start) }
    }
    unsafe smallPages.removeAll { unsafe chosen.contains($0) }
    unsafe noteSmallPages([])
  }

  /// Undoes `adopt`, if nothing has been allocated since.
  func forget() {
    for chunk in unsafe 0..<chunkCount { unsafe chunks[chunk] = nil }
    image = nil
    unsafe smallPages = unsafe []
    smallPageCount.store(0, ordering: .relaxed)
    unsafe (imageChunks, chunkCount, nextUnit) = (0, 0, 0)
    footprint.store(0, ordering: .relaxed)
  }

  // MARK: Allocation

  /// Makes sure that blocks of up to 16 KiB, of `bytes` bytes in all, can be allocated without asking the system.
  func reserve(_ bytes: Int) throws(StoreError) {
    // The rest of each chunk may be too small for the next block.
    let units = (bytes + bytes / 64) / Self.unit + 512
    while freeUnits < units {
      guard unsafe chunkCount + spareChunks.count + 1 < Self.maximumChunks, let chunk = unsafe mapChunks(1) else {
        throw outOfMemory(Self.chunkBytes)
      }
      unsafe spareChunks.append(chunk)
    }
  }

  private var freeUnits: Int {
    unsafe (nextUnit == 0 ? 0 : chunkCount * Self.chunkUnits - nextUnit) + spareChunks.count * Self.chunkUnits
  }

  /// Bytes taken from the system.
  var bytes: Int { footprint.load(ordering: .relaxed) }

  @inline(__always)
  subscript(_ address: UInt32) -> UnsafeMutableRawPointer {
    unsafe chunks[Int(address >> 15)].unsafelyUnwrapped + Int(address & 0x7FFF) &* Self.unit
  }

  /// Allocates at least `size` bytes, whose content is undefined; returns their address, which is never 0.
  func allocate(_ size: Int) -> UInt32 {
    let units = (size + Self.unit - 1) / Self.unit
    guard units <= Self.chunkUnits else { return allocateLarge(units) }
    if free[units] == 0 { reclaim() }
    let reused = free[units]
    if reused != 0 {
      free[units] = unsafe self[reused].load(as: UInt32.self)
      return reused
    }
    if unsafe nextUnit == 0 || nextUnit + units > chunkCount * Self.chunkUnits { addChunks(1) }
    return take(units)
  }

  private func take(_ units: Int) -> UInt32 {
    defer { unsafe nextUnit += units }
    if isLastSmall { footprint.add(units * Self.unit, ordering: .relaxed) }
    return unsafe UInt32(truncatingIfNeeded: nextUnit)
  }

  private func allocateLarge(_ units: Int) -> UInt32 {
    reclaim(always: true)
    if let reused = freeLarge[units]?.popLast() { return reused }
    if unsafe chunkCount == 0 { addChunks(1) }
    addChunks((units + Self.chunkUnits - 1) / Self.chunkUnits)
    return take(units)
  }

  /// Adds chunks that are adjacent in memory.
  private func addChunks(_ count: Int) {
    guard unsafe chunkCount + count < Self.maximumChunks else { fatalError("the index is too large for its addresses") }
    let bytes = count * Self.chunkBytes
    var spare = unsafe count == 1 ? spareChunks.popLast() : nil
    if unsafe spare == nil { unsafe spare = unsafe mapChunks(count) }
    guard let chunk = unsafe spare else { fatalError("out of memory") }
    // The rest of the last chunk can be reused only for a block of exactly its size.
    let left = unsafe nextUnit == 0 ? 0 : chunkCount * Self.chunkUnits - nextUnit
    if left > 0 { release(take(left), units: left) }
    if isLastSmall { unsafe noteSmallPages([chunks[chunkCount - 1].unsafelyUnwrapped]) }
    isLastSmall = unsafe count == 1 && chunkCount < Self.manyChunks
    if !isLastSmall { unsafe cairn_advise_huge(chunk, bytes) }
    for index in 0..<count { unsafe chunks[chunkCount + index] = unsafe chunk + index * Self.chunkBytes }
    unsafe nextUnit = unsafe chunkCount * Self.chunkUnits + (chunkCount == 0 ? 1 : 0)  // address 0 stays unused
    unsafe chunkCount += count
    if !isLastSmall { footprint.add(bytes, ordering: .relaxed) }
  }

  /// Maps memory aligned to the size of a chunk; nil if the system gives none.
  private func mapChunks(_ count: Int) -> UnsafeMutableRawPointer? {
    // Maps one chunk more, so that an aligned part can be kept.
    let bytes = count * Self.chunkBytes
    let length = bytes + Self.chunkBytes
    let mapped = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { return nil }
    let start = UInt(bitPattern: mapped)
    let aligned = (start + UInt(Self.chunkBytes) - 1) & ~UInt(Self.chunkBytes - 1)
    let lead = Int(aligned - start)
    if lead > 0 { unsafe munmap(mapped, lead) }
    unsafe munmap(mapped + lead + bytes, Self.chunkBytes - lead)
    return unsafe mapped + lead
  }

  private func release(_ address: UInt32, units: Int) {
    guard units <= Self.chunkUnits else {
      freeLarge[units, default: []].append(address)
      return
    }
    unsafe self[address].storeBytes(of: free[units], as: UInt32.self)
    free[units] = address
  }

  /// Retires a block. Readers that pin the era from now on must not be able to reach it.
  func retire(_ address: UInt32, _ size: Int) {
    guard address != Self.blank else { return }
    retired.append(
      Retired(address: address, units: UInt32((size + Self.unit - 1) / Self.unit), era: eras.now))
  }

  /// Frees the retired blocks that no reader can reach any more.
  private func reclaim(always: Bool = false) {
    guard always || retired.count - firstRetired >= reclaimThreshold else { return }
    eras.advance()
    let oldest = eras.oldestPinned()
    while firstRetired < retired.count, retired[firstRetired].era < oldest {
      release(retired[firstRetired].address, units: Int(retired[firstRetired].units))
      firstRetired += 1
    }
    if firstRetired * 2 > retired.count {
      retired.removeFirst(firstRetired)
      firstRetired = 0
    }
    reclaimThreshold = retired.count - firstRetired + 64
  }
}
