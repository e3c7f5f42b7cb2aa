import CCairnPlatform
import Synchronization

/// Finds the rows of one keyspace: maps a row's hash to the log address of its newest record.
///
/// Extendible hashing (Fagin, Nievergelt, Pippenger and Strong, 1979) over pages of 16 KiB. A page is 255 cache lines
/// of eight slots after one line of header; a slot is one atomic word, so that readers need no lock:
///
///     bits 63 to 25  log address    bits 24 to 21  steps away from the home line    bits 20 to 0  tag
///
/// The tag is the top of the row's position in the directory's order, so that a page splits without reading a record.
/// The position is a skewed form of the hash: pages fill at different rates and split one after the other instead of
/// all at once, so the memory per row stays nearly constant.
@safe final class HashIndex: @unchecked Sendable {
  static let pageSize = 1 << 14
  private static let lines = 255
  private static let slotsPerLine = 8
  private static let slotCount = lines * slotsPerLine
  private static let splitThreshold = slotCount * 93 / 100
  private static let maximumDisplacement = 15
  private static let tagBits: UInt64 = 21
  private static let tagMask: UInt64 = (1 << 21) - 1
  private static let addressShift: UInt64 = 25
  /// The bits of a slot below its address: displacement and tag.
  private static let placeMask: UInt64 = (1 << addressShift) - 1
  private static let maximumDepth = 21
  /// The value of a slot whose row has been removed. Probing continues after it.
  private static let vacated: UInt64 = 1

  typealias Slot = UnsafeMutablePointer<Atomic<UInt64>>

  private let arena: Arena
  private let directory: Atomic<UInt>
  private var directories: [UnsafeMutableRawPointer] = unsafe []
  /// Memory for future directories, each twice as large as the one before.
  @exclusivity(unchecked) private var spareDirectories: [UnsafeMutableRawPointer] = unsafe []
  private let pageCount = Atomic<Int>(0)

  /// At the beginning of a page's first line: which rows belong to the page. Never changes.
  struct PageSpan {
    var depth: UInt32
    /// The first `depth` bits of the positions of its rows.
    var prefix: UInt32
  }

  /// After the span: how many slots are not empty, and how many of these are vacated. Used by the writer only.
  private struct PageCounts {
    var used: UInt32
    var vacated: UInt32
  }

  /// Begins with pages that are in the arena already; without pages it takes nothing from the arena before the first
  /// row.
  init(arena: Arena, directory pages: [UInt32] = []) {
    self.arena = arena
    directory = Atomic(0)
    pageCount.store(Set(pages).count, ordering: .relaxed)
    if pages.isEmpty {
      publishDirectory(depth: 0) { _ in Arena.blank }
    } else {
      publishDirectory(depth: pages.count.trailingZeroBitCount) { pages[$0] }
    }
  }

  deinit { unsafe (directories + spareDirectories).forEach { unsafe $0.deallocate() } }

  var directoryBytes: Int {
    let depth = unsafe Int(
      UnsafePointer<UInt64>(bitPattern: directory.load(ordering: .acquiring)).unsafelyUnwrapped.pointee)
    return 8 << depth
  }

  /// Whether there has been no row yet, or none since `clear`.
  var isBlank: Bool { page(0) == Arena.blank }

  /// Bytes of the pages, without the directory.
  var pageBytes: Int { pageCount.load(ordering: .relaxed) * Self.pageSize }

  // MARK: Directory

  private func publishDirectory(depth: Int, _ page: (Int) -> UInt32) {
    let memory =
      unsafe spareDirectories.isEmpty
      ? .allocate(byteCount: 8 + (4 << depth), alignment: 64) : spareDirectories.removeFirst()
    unsafe memory.storeBytes(of: UInt64(depth), as: UInt64.self)
    let entries = unsafe (memory + 8).bindMemory(to: Atomic<UInt32>.self, capacity: 1 << depth)
    for index in 0..<(1 << depth) { unsafe (entries + index).initialize(to: Atomic(page(index))) }
    unsafe directories.append(memory)
    directory.store(UInt(bitPattern: memory), ordering: .releasing)
  }

  @inline(__always)
  private var currentDirectory: (depth: UInt32, entries: UnsafeMutablePointer<Atomic<UInt32>>) {
    let memory = unsafe UnsafeMutableRawPointer(bitPattern: directory.load(ordering: .acquiring)).unsafelyUnwrapped
    return unsafe (
      UInt32(truncatingIfNeeded: memory.load(as: UInt64.self)),
      (memory + 8).assumingMemoryBound(to: Atomic<UInt32>.self)
    )
  }

  /// The row's position in the directory's order. Rows are twice as dense at the lowest positions as at the highest.
  @inline(__always)
  static func position(_ hash: RowHash) -> UInt32 {
    let u = hash.rawValue >> 32
    return UInt32(truncatingIfNeeded: (2 &* u &+ (u &* u) >> 32) / 3)
  }

  @inline(__always)
  private static func homeLine(_ hash: RowHash) -> Int {
    Int(truncatingIfNeeded: ((hash.rawValue & 0xFFFF) &* UInt64(lines)) >> 16)
  }

  /// The next line to probe. Rows with the same home line take different steps, so that no clusters form. A step is a
  /// power of two, so it reaches all 255 lines.
  @inline(__always)
  private static func step(_ line: Int, _ tag: UInt64) -> Int {
    let next = line &+ 1 << Int(truncatingIfNeeded: tag & 7)
    return next >= lines ? next &- lines : next
  }

  private static func stepBack(_ line: Int, _ tag: UInt64, _ steps: Int) -> Int {
    let home = (line - steps << Int(truncatingIfNeeded: tag & 7)) % lines
    return home < 0 ? home + lines : home
  }

  @inline(__always)
  private static func tag(_ position: UInt32) -> UInt64 { UInt64(position) >> (32 - tagBits) }

  @inline(__always)
  private func page(_ position: UInt32) -> UInt32 {
    let (depth, entries) = unsafe currentDirectory
    let index = depth == 0 ? 0 : Int(position >> (32 &- depth))
    return unsafe entries[index].load(ordering: .acquiring)
  }

  @inline(__always)
  private func slots(_ page: UInt32, line: Int) -> Slot {
    unsafe (arena[page] + (64 &+ line &* 64)).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inline(__always)
  func prefetch(_ hash: RowHash) {
    unsafe cairn_prefetch(slots(page(Self.position(hash)), line: Self.homeLine(hash)))
  }

  /// Prefetches the home line of a row, and returns its address.
  @inline(__always)
  func prefetchedLine(_ hash: RowHash) -> UInt64 {
    let line = unsafe slots(page(Self.position(hash)), line: Self.homeLine(hash))
    unsafe cairn_prefetch(line)
    return UInt64(UInt(bitPattern: line))
  }

  /// Prefetches what inserting a row reads first: the header of its page, and its home line.
  @inline(__always)
  func prefetchForInsertion(_ hash: RowHash) {
    let page = page(Self.position(hash))
    unsafe cairn_prefetch(arena[page])
    unsafe cairn_prefetch(slots(page, line: Self.homeLine(hash)))
  }

  // MARK: Finding

  /// Calls `match` with the log address of every row that may be the one, until it returns true; returns the slot of
  /// that row, or nil.
  @inline(__always)
  func find<E>(_ hash: RowHash, _ match: (LogAddress) throws(E) -> Bool) throws(E) -> Slot? {
    let position = Self.position(hash)
    let page = page(position)
    let tag = Self.tag(position)
    var line = Self.homeLine(hash)
    for displacement in 0...UInt64(Self.maximumDisplacement) {
      let slots = unsafe slots(page, line: line)
      let wanted = displacement << Self.tagBits | tag
      var (likely, isFull) = unsafe compare(slots, wanted)
      while likely != 0 {
        let index = likely.trailingZeroBitCount
        let word = unsafe slots[index].load(ordering: .acquiring)
        if word & Self.placeMask == wanted, word > Self.vacated, try match(LogAddress(word >> Self.addressShift)) {
          return unsafe slots + index
        }
        likely &= likely &- 1
      }
      if !isFull { return nil }
      line = Self.step(line, tag)
    }
    return nil
  }

  /// The first address in a row's home line that may be that of the row; nil if there is none.
  ///
  /// - Parameter line: What ``prefetchedLine(_:)`` has returned since the era was pinned.
  @inline(__always)
  func firstAddress(_ hash: RowHash, inLine line: UInt64) -> LogAddress? {
    guard let slots = unsafe Slot(bitPattern: UInt(truncatingIfNeeded: line)) else { return nil }
    let wanted = Self.tag(Self.position(hash))
    let likely = unsafe compare(slots, wanted).likely
    guard likely != 0 else { return nil }
    let word = unsafe slots[likely.trailingZeroBitCount].load(ordering: .acquiring)
    guard word & Self.placeMask == wanted, word > Self.vacated else { return nil }
    return LogAddress(word >> Self.addressShift)
  }

  /// Which slots of a line look like the wanted one, and whether none of them is empty. Without branches, because where
  /// in its line a row lies cannot be predicted.
  @inline(__always)
  private func compare(_ slots: Slot, _ wanted: UInt64) -> (likely: UInt32, isFull: Bool) {
    let likely = unsafe cairn_match(
      slots, UInt32(truncatingIfNeeded: Self.placeMask), UInt32(truncatingIfNeeded: wanted))
    return unsafe (likely, slots[Self.slotsPerLine &- 1].load(ordering: .relaxed) != 0)
  }

  // MARK: Changing (the writer's)

  /// Makes sure that `newRows` rows can be inserted without asking the system for memory, once the arena has as many
  /// bytes as this returns.
  func reserve(_ newRows: Int) throws(StoreError) -> Int {
    // A page that has been split has room for about half a page of rows before it splits again.
    let splits = newRows / (Self.slotCount / 3)
    let doublings = 1 + splits.bitWidth - splits.leadingZeroBitCount
    while unsafe spareDirectories.count < doublings {
      let depth = unsafe Int(currentDirectory.depth) + 1 + spareDirectories.count
      if depth > Self.maximumDepth { break }
      unsafe spareDirectories.append(try allocateMemory(8 + (4 << depth), alignment: 64))
    }
    return (min(newRows, pageCount.load(ordering: .relaxed)) + splits + 2) * 2 * Self.pageSize
  }

  /// Inserts a row that is known to be absent.
  func insert(_ hash: RowHash, _ address: LogAddress) {
    let position = Self.position(hash)
    while true {
      let page = page(position)
      if place(page, Self.tag(position), Self.homeLine(hash), address) { return }
      split(page)
    }
  }

  /// Points an existing slot to another record.
  @inline(__always)
  func replace(_ slot: Slot, _ address: LogAddress) {
    let word = unsafe slot.pointee.load(ordering: .relaxed)
    unsafe slot.pointee.store(word & Self.placeMask | address.rawValue << Self.addressShift, ordering: .releasing)
  }

  func remove(_ hash: RowHash, _ slot: Slot) {
    unsafe slot.pointee.store(Self.vacated, ordering: .releasing)
    unsafe counts(page(Self.position(hash))).pointee.vacated += 1
  }

  private func span(_ page: UInt32) -> PageSpan { unsafe arena[page].load(as: PageSpan.self) }

  private func counts(_ page: UInt32) -> UnsafeMutablePointer<PageCounts> {
    unsafe (arena[page] + MemoryLayout<PageSpan>.size).assumingMemoryBound(to: PageCounts.self)
  }

  private func newPage(depth: UInt32, prefix: UInt32) -> UInt32 {
    let page = arena.allocate(Self.pageSize)
    pageCount.add(1, ordering: .relaxed)
    let memory = unsafe arena[page]
    unsafe memory.initializeMemory(as: UInt64.self, repeating: 0, count: Self.pageSize / 8)
    unsafe memory.storeBytes(of: PageSpan(depth: depth, prefix: prefix), as: PageSpan.self)
    unsafe (memory + MemoryLayout<PageSpan>.size).bindMemory(to: PageCounts.self, capacity: 1)
      .initialize(to: PageCounts(used: 0, vacated: 0))
    return page
  }

  /// Enters a row into a page; returns false if the page has to be split first.
  private func place(_ page: UInt32, _ tag: UInt64, _ home: Int, _ address: LogAddress) -> Bool {
    let counts = unsafe counts(page)
    guard page != Arena.blank, unsafe counts.pointee.used < Self.splitThreshold else { return false }
    var line = home
    for displacement in 0...UInt64(Self.maximumDisplacement) {
      let slots = unsafe slots(page, line: line)
      for index in 0..<Self.slotsPerLine {
        let word = unsafe slots[index].load(ordering: .relaxed)
        guard word <= Self.vacated else { continue }
        unsafe slots[index].store(
          address.rawValue << Self.addressShift | displacement << Self.tagBits | tag, ordering: .releasing)
        if word == Self.vacated { unsafe counts.pointee.vacated -= 1 } else { unsafe counts.pointee.used += 1 }
        return true
      }
      line = Self.step(line, tag)
    }
    return false
  }

  /// Makes room for rows in one of 2^`bits` equal parts of all positions, before they are inserted. If a page were for
  /// many parts, rows of a single part could fill it in such a way that it could not be split.
  func reserve(_ newRows: Int, part: Int, bits: UInt32) {
    guard bits > 0 else { return }
    var position: UInt32? = UInt32(part) << (32 - bits)
    let end = UInt64(part + 1) << (32 - UInt64(bits))
    while let start = position, UInt64(start) < end {
      let page = page(start)
      let rows = span(page)
      let expected = rows.depth < bits ? newRows : newRows >> Int(rows.depth - bits)
      let used = unsafe Int(counts(page).pointee.used)
      if rows.depth < bits || (expected > 0 && used + expected > Self.slotCount * 85 / 100) {
        split(page, evenIfSparse: true)
      } else {
        position = rows.next
      }
    }
  }

  /// Splits a page into two, or copies it into one without vacated slots if these are many. Readers continue in the old
  /// page until they see the new ones.
  private func split(_ old: UInt32, evenIfSparse: Bool = false) {
    let counts = unsafe counts(old).pointee
    let rows = span(old)
    // If there are few rows and no vacated slots, single lines are full, with rows of the same line and step, which
    // only splitting separates. It never separates rows of the same hash; these end at the maximum depth.
    let isCrowded =
      evenIfSparse
      || old != Arena.blank
        && (counts.vacated == 0 || counts.used - counts.vacated > UInt32(Self.splitThreshold / 2))
    var (depth, entries) = unsafe currentDirectory
    if isCrowded, rows.depth == depth {
      guard depth < Self.maximumDepth else { fatalError("the index is too large for its directory") }
      publishDirectory(depth: Int(depth) + 1) { unsafe entries[$0 >> 1].load(ordering: .relaxed) }
      unsafe (depth, entries) = unsafe currentDirectory
    }
    let newDepth = isCrowded ? rows.depth + 1 : rows.depth
    let low = newPage(depth: newDepth, prefix: isCrowded ? rows.prefix << 1 : rows.prefix)
    let high = isCrowded ? newPage(depth: newDepth, prefix: rows.prefix << 1 | 1) : low
    let bit = UInt64(1) << (Self.tagBits - 1 - UInt64(rows.depth))
    for line in 0..<Self.lines {
      let slots = unsafe slots(old, line: line)
      for index in 0..<Self.slotsPerLine {
        let word = unsafe slots[index].load(ordering: .relaxed)
        guard word > Self.vacated else { continue }
        let displacement = Int(truncatingIfNeeded: word >> Self.tagBits) & Self.maximumDisplacement
        let home = Self.stepBack(line, word, displacement)
        let placed = place(
          word & bit == 0 ? low : high, word & Self.tagMask, home, LogAddress(word >> Self.addressShift))
        // This fails only if about half a page of rows probes the same sixteen lines. Chance does not do that, and the
        // seed is secret.
        guard placed else { fatalError("a page of the index cannot be split") }
      }
    }
    let span = 1 << (depth - rows.depth)
    let first = Int(rows.prefix) * span
    for index in 0..<span {
      unsafe entries[first + index].store(index < span / 2 || !isCrowded ? low : high, ordering: .releasing)
    }
    retire(old)
  }

  /// Gives back all pages; the index is empty from then on.
  func clear() {
    var pages: [UInt32] = []
    var position: UInt32? = 0
    while let start = position {
      let page = page(start)
      pages.append(page)
      position = span(page).next
    }
    publishDirectory(depth: 0) { _ in Arena.blank }
    for page in pages { retire(page) }
  }

  private func retire(_ page: UInt32) {
    guard page != Arena.blank else { return }
    arena.retire(page, Self.pageSize)
    pageCount.subtract(1, ordering: .relaxed)
  }

  /// Vacates the slots of all rows for whose addresses `hasGone` returns true; returns how many. Before the store is
  /// shared.
  func vacate(_ hasGone: (LogAddress) -> Bool) -> Int {
    var count = 0
    var position: UInt32? = 0
    while let start = position {
      let page = page(start)
      for line in 0..<Self.lines {
        let slots = unsafe slots(page, line: line)
        for index in 0..<Self.slotsPerLine {
          let word = unsafe slots[index].load(ordering: .relaxed)
          guard word > Self.vacated, hasGone(LogAddress(word >> Self.addressShift)) else { continue }
          unsafe slots[index].store(Self.vacated, ordering: .relaxed)
          unsafe counts(page).pointee.vacated += 1
          count += 1
        }
      }
      position = span(page).next
    }
    return count
  }

  // MARK: Walking

  /// Puts the log addresses in one page into `buffer`; returns where the next page begins, or nil after the last. Begin
  /// with 0. A page that splits between two calls is neither missed nor seen twice.
  func addresses(from position: UInt32, into buffer: inout [LogAddress]) -> UInt32? {
    buffer.removeAll(keepingCapacity: true)
    let page = page(position)
    for line in 0..<Self.lines {
      let slots = unsafe slots(page, line: line)
      for index in 0..<Self.slotsPerLine {
        let word = unsafe slots[index].load(ordering: .acquiring)
        if word > Self.vacated { buffer.append(LogAddress(word >> Self.addressShift)) }
      }
    }
    return span(page).next
  }

  // MARK: Checkpoints

  /// Copies the page that begins at `position`. `address` gets a row's log address and returns the one to write, or nil
  /// to vacate the slot. Returns which rows the page is for.
  @inline(__always)
  func copyPage(
    from position: UInt32, to target: UnsafeMutableRawPointer, _ address: (LogAddress) throws(StoreError) -> LogAddress?
  ) throws(StoreError) -> PageSpan {
    let page = page(position)
    let span = span(page)
    unsafe target.initializeMemory(as: UInt64.self, repeating: 0, count: Self.pageSize / 8)
    var counts = PageCounts(used: 0, vacated: 0)
    for line in 0..<Self.lines {
      let slots = unsafe slots(page, line: line)
      let copies = unsafe (target + (64 &+ line &* 64)).assumingMemoryBound(to: UInt64.self)
      for index in 0..<Self.slotsPerLine {
        let word = unsafe slots[index].load(ordering: .acquiring)
        if word == 0 { break }
        counts.used += 1
        if word != Self.vacated, let kept = try address(LogAddress(word >> Self.addressShift)) {
          unsafe copies[index] = word & Self.placeMask | kept.rawValue << Self.addressShift
        } else {
          unsafe copies[index] = Self.vacated
          counts.vacated += 1
        }
      }
    }
    unsafe target.storeBytes(of: span, as: PageSpan.self)
    unsafe target.storeBytes(of: counts, toByteOffset: MemoryLayout<PageSpan>.size, as: PageCounts.self)
    return span
  }

  /// The range in bytes from the first to the last page of a directory, which has at least one.
  static func range(_ pages: [UInt32]) -> Range<Int> {
    let (first, last) = pages.reduce((UInt32.max, 0)) { (min($0.0, $1), max($0.1, $1)) }
    return Int(first) * 64..<Int(last) * 64 + pageSize
  }

  /// The number of rows in the pages of a directory; nil if these are no such pages, or if a row is not at a log address
  /// below `addressEnd`. Looks at every slot.
  static func count(_ arena: Arena, directory pages: [UInt32], nodesEnd: Int, addressEnd: LogAddress) -> Int? {
    var rows = 0
    let depth = UInt32(pages.count.trailingZeroBitCount)
    guard depth <= maximumDepth else { return nil }
    for (index, page) in pages.enumerated() {
      guard page > 0, Int(page) * 64 + pageSize <= nodesEnd else { return nil }
      let memory = unsafe arena[page]
      let span = unsafe memory.load(as: PageSpan.self)
      guard span.depth <= depth, UInt32(index) >> (depth - span.depth) == span.prefix else { return nil }
      guard index == 0 || pages[index - 1] != page else { continue }
      var highest: UInt64 = 0
      var counts = PageCounts(used: 0, vacated: 0)
      let slots = unsafe (memory + 64).assumingMemoryBound(to: UInt64.self)
      for slot in 0..<slotCount {
        let word = unsafe slots[slot]
        highest = max(highest, word)
        counts.used += word == 0 ? 0 : 1
        counts.vacated += word == vacated ? 1 : 0
      }
      let noted = unsafe (memory + MemoryLayout<PageSpan>.size).load(as: PageCounts.self)
      guard LogAddress(highest >> addressShift) < addressEnd, noted.used == counts.used,
        noted.vacated == counts.vacated
      else {
        return nil
      }
      rows += Int(counts.used) - Int(counts.vacated)
    }
    return rows
  }
}

extension HashIndex.PageSpan {
  /// The position after those of the page; nil after the last page.
  var next: UInt32? {
    let next = (UInt64(prefix) + 1) << (32 - UInt64(depth))
    return next >= 1 << 32 ? nil : UInt32(next)
  }
}
