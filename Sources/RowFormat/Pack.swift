/// Neighbouring entries of a store in one row: STORE-FORMAT.md, section 7.
package enum Pack {
  package static let format: UInt8 = 1
  /// The most bytes that the entries of a pack may take together, unless the pack has only one.
  package static let mostBytes = 16 << 10

  package static func bytes(_ entries: Slice<EntryList>) -> [UInt8] { entries.base.pack(entries.indices) }

  package static func entries(_ bytes: [UInt8]) throws(RowDamage) -> EntryList { try EntryList(pack: bytes) }

  /// The number of entries, which are not read.
  package static func count(_ bytes: [UInt8]) throws(RowDamage) -> Int { try PackParts(bytes).left }
}

/// Reads where the bytes of a pack's entries are.
struct PackParts {
  private let bytes: [UInt8]
  private var input: ByteInput
  private(set) var left: Int
  private var isFirst = true
  private var total = 0

  init(_ bytes: [UInt8]) throws(RowDamage) {
    self.bytes = bytes
    input = ByteInput(bytes)
    guard try input.byte() == Pack.format else {
      throw RowDamage("a pack does not begin with \(Pack.format)", at: 0)
    }
    left = try input.count()
  }

  /// The number of bytes that the next entry shares with the entry before it, and the place of its other bytes; nil
  /// after the last entry.
  ///
  /// - Parameter length: The length of the entry before it.
  @inline(__always)
  mutating func next(after length: Int) throws(RowDamage) -> (shared: Int, rest: Range<Int>)? {
    guard left > 0 else {
      try input.requireEnd()
      return nil
    }
    left -= 1
    let shared = try input.varint()
    guard shared <= UInt64(length) else { throw input.damage("an entry shares more than the previous one has") }
    let rest = try input.counted()
    total += Int(shared) + rest.count
    guard isFirst || total <= Pack.mostBytes else {
      throw input.damage("entries take more than \(Pack.mostBytes) bytes in total")
    }
    isFirst = false
    return (Int(shared), rest)
  }

  /// Throws if an entry does not come after the entry before it.
  ///
  /// - Parameter former: The byte of the entry before it where `rest` begins; nil if that entry has no more bytes.
  @inline(__always)
  func checkOrder(_ rest: Range<Int>, after former: UInt8?) throws(RowDamage) {
    guard !rest.isEmpty, former.map({ bytes[rest.lowerBound] > $0 }) ?? true else {
      throw RowDamage("entries do not ascend", at: rest.lowerBound)
    }
  }
}

/// Reads the entries of a pack one by one.
package struct PackReader {
  /// The entry read last.
  package private(set) var entry: [UInt8] = []
  /// The number of bytes that ``entry`` shares with the entry before it.
  package private(set) var shared = 0
  private let bytes: [UInt8]
  private var parts: PackParts
  private var isFirst = true

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    self.bytes = bytes
    parts = try PackParts(bytes)
  }

  /// Reads the next entry; returns false after the last one. Throws if the entries do not ascend.
  package mutating func next() throws(RowDamage) -> Bool {
    guard let (shared, rest) = try parts.next(after: entry.count) else { return false }
    if !isFirst { try parts.checkOrder(rest, after: shared < entry.count ? entry[shared] : nil) }
    isFirst = false
    self.shared = shared
    replaceRest(rest)
    return true
  }

  /// Reads on, in less time than ``next()`` takes, to the first entry that is not below `bound`; returns false if there
  /// is none. The entry read last must be below `bound`.
  package mutating func next(notBelow bound: [UInt8]) throws(RowDamage) -> Bool {
    var isFound = false
    var damage: RowDamage?
    // An entry is no longer than the entry read last and all that follows together.
    unsafe withUnsafeTemporaryAllocation(byteCount: entry.count + bytes.count, alignment: 1) { buffer in
      unsafe bytes.withUnsafeBytes { pack in
        do throws(RowDamage) {
          isFound = unsafe try next(notBelow: bound, pack, buffer)
        } catch {
          damage = error
        }
      }
    }
    if let damage { throw damage }
    return isFound
  }

  private mutating func next(
    notBelow bound: [UInt8], _ pack: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(RowDamage) -> Bool {
    var parts = parts
    var length = entry.count
    unsafe buffer.copyBytes(from: entry)
    defer {
      self.parts = parts
      unsafe entry = [UInt8](buffer[..<length])
    }
    // How many bytes the entry shares with the bound.
    var matching = 0
    while matching < min(length, bound.count), unsafe buffer[matching] == bound[matching] { matching += 1 }
    while let (shared, rest) = try parts.next(after: length) {
      try parts.checkOrder(rest, after: shared < length ? unsafe buffer[shared] : nil)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[shared...]).copyMemory(from: .init(rebasing: pack[rest]))
      length = shared + rest.count
      self.shared = shared
      // An entry that shares the byte which decides with the entry before it is below the bound, too.
      guard shared <= matching else { continue }
      matching = shared
      while matching < min(length, bound.count), unsafe buffer[matching] == bound[matching] { matching += 1 }
      guard matching < bound.count else { return true }
      if matching < length, unsafe buffer[matching] > bound[matching] { return true }
    }
    return false
  }

  /// Replaces what the entry does not share by bytes of the pack.
  private mutating func replaceRest(_ rest: Range<Int>) {
    unsafe bytes.withUnsafeBytes { pack in
      let rest = unsafe UnsafeRawBufferPointer(rebasing: pack[rest])
      // Most neighbours are of the same length, and differ in a few bytes.
      if shared + rest.count == entry.count {
        unsafe entry.withUnsafeMutableBytes { entry in
          for place in 0..<rest.count { unsafe entry[shared + place] = unsafe rest[place] }
        }
      } else {
        entry.removeLast(entry.count - shared)
        unsafe entry.append(contentsOf: rest)
      }
    }
  }
}
