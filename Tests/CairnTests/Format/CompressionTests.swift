import Cairn
import CairnSimulation
import Testing

@Suite struct CompressionTests {
  private func compress(_ value: [UInt8], _ compressor: inout LZ4Compressor) -> [UInt8]? {
    // Filled with a pattern that shows bytes written past the limit.
    var target = [UInt8](repeating: 0xEE, count: value.count + 16)
    let length = unsafe value.withUnsafeBytes { value in
      unsafe target.withUnsafeMutableBytes { unsafe compressor.compress(value, into: $0.baseAddress!) }
    }
    if target.dropFirst(LZ4Compressor.limit(value.count)).contains(where: { $0 != 0xEE }) {
      Issue.record("written past the limit")
    }
    return length.map { Array(target.prefix($0)) }
  }

  private func decompress(_ block: [UInt8], _ count: Int) -> [UInt8]? {
    var value = [UInt8](repeating: 0xEE, count: count)
    let isWhole = unsafe block.withUnsafeBytes { block in
      unsafe value.withUnsafeMutableBytes { unsafe LZ4.decompress(block, into: $0) }
    }
    return isWhole ? value : nil
  }

  private func value(_ random: inout SplitMix64) -> [UInt8] {
    let words = (0..<8).map { _ in (0..<6).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
    let count = Int.random(in: 0..<200, using: &random)
    return (0..<count).flatMap { _ in
      Bool.random(using: &random)
        ? words[Int.random(in: 0..<8, using: &random)] : [UInt8.random(in: .min ... .max, using: &random)]
    }
  }

  @Test(arguments: seeds) func valuesComeBackAndHistoryLeavesNoTrace(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var compressor = LZ4Compressor()
    var compressed = 0
    for _ in 0..<500 {
      let value = value(&random)
      let block = compress(value, &compressor)
      var fresh = LZ4Compressor()
      #expect(block == compress(value, &fresh))
      guard let block else { continue }
      compressed += 1
      #expect(value.count - block.count >= max(8, value.count * 6 / 100))
      #expect(decompress(block, value.count) == value)
      #expect(decompress(block, value.count - 1) == nil)
      #expect(decompress(block, value.count + 1) == nil)
      #expect(decompress(Array(block.dropLast()), value.count) == nil)
    }
    #expect(compressed > 100)
  }

  @Test func whatSavesLittleIsLeftAlone() {
    var compressor = LZ4Compressor()
    #expect(compress([], &compressor) == nil)
    #expect(compress([UInt8](repeating: 7, count: 39), &compressor) == nil)
    #expect(compress([UInt8](repeating: 7, count: 40), &compressor) != nil)
    #expect(compress(Array(0..<255), &compressor) == nil)
    #expect(LZ4Compressor.limit(100) == 92)
    #expect(LZ4Compressor.limit(1000) == 940)
    #expect(LZ4Compressor.limit(1001) == 940)
  }

  @Test func manyValuesGoThroughOneState() {
    var compressor = LZ4Compressor()
    let value = [UInt8](repeating: 7, count: 64)
    let first = compress(value, &compressor)
    // Enough calls for the state to run out of offsets and be cleared.
    let others = (0..<20_000).count { _ in compress(value, &compressor) != first }
    #expect(others == 0)
  }

  @Test(arguments: seeds) func anyBytesAreRefusedOrFit(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var compressor = LZ4Compressor()
    for _ in 0..<2000 {
      let value = value(&random)
      var block = compress(value, &compressor) ?? value
      for _ in 0..<3 where !block.isEmpty {
        block[Int.random(in: block.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
      _ = decompress(block, value.count)
    }
  }

  @Test func impossibleLengthsAreRefused() {
    #expect(LZ4.isPlausible(stored: 10, raw: 2566))
    #expect(!LZ4.isPlausible(stored: 10, raw: 2567))
    #expect(!LZ4.isPlausible(stored: 0, raw: 0))
    #expect(!LZ4.isPlausible(stored: -1, raw: 10))
    #expect(!LZ4.isPlausible(stored: .max, raw: 10))
    #expect(!LZ4.isPlausible(stored: 10, raw: -1))
    #expect(LZ4.isPlausible(stored: 1 << 30, raw: 1 << 30))
    #expect(!LZ4.isPlausible(stored: 1 << 30, raw: 1 << 30 + 1))
    #expect(decompress([], 0) == nil)
    #expect(decompress([0], 0) == [])
  }
}
