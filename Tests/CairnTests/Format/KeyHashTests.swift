import Testing

@testable import Cairn

/// The ordered index and the table of versions identify a row by its hash alone, so no two rows may share one.
@Suite struct KeyHashTests {
  private func hash(_ key: [UInt8], keyspace: KeyspaceID = 1, seed: UInt64 = 0x1234_5678_9ABC_DEF0) -> RowHash {
    unsafe key.withUnsafeBytes { bytes in
      var nothing: UInt8 = 0
      return unsafe withUnsafePointer(to: &nothing) { nothing in
        unsafe KeyHash(seed: seed)(keyspace, bytes.baseAddress ?? UnsafeRawPointer(nothing), bytes.count)
      }
    }
  }

  private func words(_ words: UInt64...) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  @Test("A key and a longer key that begins with it have different hashes.") func aKeyAndTheSameWithMoreBehindIt() {
    for length in 0..<200 {
      let key = [UInt8].noise(length)
      var seen: Set<RowHash> = [hash(key)]
      var count = 1
      for last in 0...255 as ClosedRange<UInt8> {
        seen.insert(hash(key + [last]))
        seen.insert(hash(key + [last, 0]))
        seen.insert(hash(key + [last, 1]))
        seen.insert(hash(key + [0, last ^ 0x55, last]))
        count += 4
      }
      #expect(seen.count == count, "\(length)")
    }
  }

  @Test("Keys of zeros of different lengths have different hashes.") func zerosOfAnyLength() {
    var seen: Set<RowHash> = []
    for length in 0..<2000 { seen.insert(hash([UInt8](repeating: 0, count: length))) }
    #expect(seen.count == 2000)
  }

  /// No word that is known in advance cancels the words before it.
  @Test("The hashes in FORMAT.md are right.") func wordsFromTheFormatsDescription() {
    let constants: [UInt64] = [
      0xD6E8_FEB8_6659_FD93, 0xE703_7ED1_A0B4_28DB, 0xA076_1D64_78BD_642F, 0x8EBC_6AF0_9C88_C6E3, 0x9E37_79B9_7F4A_7C15,
      0,
    ]
    var keys: Set<[UInt8]> = []
    for constant in constants {
      for length in 0...48 as ClosedRange<UInt64> {
        for before in 0..<20 as Range<UInt64> {
          keys.insert(words(before, constant ^ length))
          keys.insert(words(before, constant ^ length, 7, 7))
          keys.insert(words(1, 1, before, constant ^ length))
        }
      }
    }
    #expect(Set(keys.map { hash($0) }).count == keys.count)
  }

  @Test("Keyspaces and seeds change the hash of a key.") func keyspacesAndSeedsTell() {
    var seen: Set<RowHash> = []
    for number in 0..<1000 as Range<UInt64> {
      seen.insert(hash([1, 2, 3], keyspace: KeyspaceID(UInt32(number) + 2)))
      seen.insert(hash([1, 2, 3], seed: number))
    }
    #expect(seen.count == 2000)
  }
}
