import CairnSimulation
import Testing

@testable import Cairn

@Suite struct HashIndexTests {
  private func addresses(_ index: HashIndex) -> [LogAddress] {
    var all: [LogAddress] = []
    var page: [LogAddress] = []
    var position: UInt32? = 0
    while let from = position {
      position = index.addresses(from: from, into: &page)
      all += page
    }
    return all.sorted()
  }

  private func find(_ index: HashIndex, _ hash: RowHash, _ address: LogAddress) -> HashIndex.Slot? {
    unsafe index.find(hash) { $0 == address }
  }

  @Test("G9: A hash index finds every entered row and no removed row while its pages split.") func against() {
    var random = SplitMix64(seed: 41)
    let arena = Arena(eras: Eras())
    let index = HashIndex(arena: arena)
    var rows: [RowHash: LogAddress] = [:]
    var order: [RowHash] = []
    for address in (1...60_000).map({ LogAddress($0) }) {
      if Int.random(in: 0..<3, using: &random) == 0, let hash = order.popLast(),
        let gone = rows.removeValue(forKey: hash)
      {
        guard let slot = unsafe find(index, hash, gone) else {
          Issue.record("\(hash) is gone")
          return
        }
        unsafe index.remove(hash, slot)
        #expect(unsafe find(index, hash, gone) == nil)
      } else {
        let hash = RowHash(random.next())
        rows[hash] = address
        order.insert(hash, at: order.isEmpty ? 0 : .random(in: 0...min(order.count, 20), using: &random))
        index.insert(hash, address)
      }
    }
    for (hash, address) in rows {
      if unsafe find(index, hash, address) == nil { Issue.record("\(hash) is gone") }
    }
    #expect(addresses(index) == rows.values.sorted())
  }

  /// Rows that do not fit in their home line go to other lines, and are found there although slots on the way have been
  /// vacated.
  @Test("A hash index finds many rows with the same home line.") func manyOfOneLine() {
    let arena = Arena(eras: Eras())
    let index = HashIndex(arena: arena)
    // Alike in the bits that choose the line; different in those that choose the page and the tag.
    let hashes = (1...50 as ClosedRange<UInt64>).map { RowHash($0 << 54 | 0x1234) }
    for round in 0..<20 as Range<UInt64> {
      for (position, hash) in hashes.enumerated() {
        index.insert(hash, LogAddress(round * 1000 + UInt64(position) + 1))
      }
      for (position, hash) in hashes.enumerated() where position % 2 == 0 {
        guard let slot = unsafe find(index, hash, LogAddress(round * 1000 + UInt64(position) + 1)) else {
          Issue.record("\(position) is gone in round \(round)")
          return
        }
        unsafe index.remove(hash, slot)
      }
      for (position, hash) in hashes.enumerated() {
        let slot = unsafe find(index, hash, LogAddress(round * 1000 + UInt64(position) + 1))
        #expect(unsafe (slot != nil) == (position % 2 == 1))
        if let slot = unsafe slot { unsafe index.remove(hash, slot) }
      }
      #expect(addresses(index).isEmpty)
    }
  }

  @Test("A page full of vacated slots is copied without them, and not split.")
  func aPageFullOfVacatedSlotsIsMadeAnewAndNotSplit() {
    let arena = Arena(eras: Eras())
    let index = HashIndex(arena: arena)
    var random = SplitMix64(seed: 43)
    for address in (1...200_000).map({ LogAddress($0) }) {
      let hash = RowHash(random.next())
      index.insert(hash, address)
      guard let slot = unsafe find(index, hash, address) else {
        Issue.record("\(address) is gone")
        return
      }
      unsafe index.remove(hash, slot)
    }
    #expect(index.directoryBytes == 8)
    #expect(addresses(index).isEmpty)
    #expect(arena.bytes <= 4 << 20)
  }

  @Test("A replaced slot refers to the new address.") func replacingLeadsToTheNewAddress() {
    let index = HashIndex(arena: Arena(eras: Eras()))
    var random = SplitMix64(seed: 47)
    let hashes = (0..<5000).map { _ in RowHash(random.next()) }
    for hash in hashes { index.insert(hash, 1) }
    for hash in hashes {
      guard let slot = unsafe find(index, hash, 1) else {
        Issue.record("\(hash) is gone")
        return
      }
      let highest = LogAddress((1 << 39) - 1)
      unsafe index.replace(slot, highest)
      #expect(unsafe find(index, hash, highest) == slot)
    }
  }
  /// Hashes that differ only in the bits that the directory uses: their lines are full long before their page is.
  @Test func rowsThatShareALineAreSplitApart() {
    let index = HashIndex(arena: Arena(eras: Eras()))
    var random = SplitMix64(seed: 53)
    let hashes = (0..<3000).map { _ in RowHash(random.next() & ~0xFFFF_FFFF | 0x1234) }
    for (number, hash) in hashes.enumerated() { index.insert(hash, LogAddress(UInt64(number + 1))) }
    for (number, hash) in hashes.enumerated() {
      #expect(unsafe find(index, hash, LogAddress(UInt64(number + 1))) != nil)
    }
  }

  #if os(macOS) || os(Linux)
    @Test("Too many rows with one hash end the process instead of looping forever.")
    func rowsOfOneHashEndTheProcessAndNotInALoop() async {
      await #expect(processExitsWith: .failure) {
        let index = HashIndex(arena: Arena(eras: Eras()))
        for address in 1...200 as ClosedRange<UInt64> { index.insert(42, LogAddress(address)) }
      }
    }
  #endif
}
