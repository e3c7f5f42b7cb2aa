import CairnSimulation
import Testing

@testable import Cairn

@Suite struct DictionaryFormatTests {
  private static let phrases = (0..<300).map { "\"phrase number \($0 * 7919 % 1000)\": " }

  private static func value(_ number: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(number))
    return [UInt8]((0..<8).map { _ in "\(phrases[Int(random.next() % 300)])\(random.next() % 1000)" }.joined())
  }

  private static let samples = (0..<600).map(value)

  private func compress(_ value: [UInt8], _ dictionary: LZ4Dictionary, high: Bool = false) -> [UInt8]? {
    var target = [UInt8](repeating: 0xEE, count: value.count + 16)
    let length = unsafe value.withUnsafeBytes { value in
      unsafe target.withUnsafeMutableBytes { (target) -> Int? in
        if high {
          var compressor = LZ4HighCompressor(dictionary)
          return unsafe compressor.compress(value, below: value.count, into: target.baseAddress!)
        }
        var compressor = LZ4Compressor()
        return unsafe compressor.compress(value, with: dictionary, into: target.baseAddress!)
      }
    }
    #expect(target.dropFirst(LZ4Compressor.limit(value.count)).allSatisfy { $0 == 0xEE })
    return length.map { Array(target.prefix($0)) }
  }

  private func decompress(_ block: [UInt8], _ count: Int, _ dictionary: [UInt8]) -> [UInt8]? {
    var value = [UInt8](repeating: 0xEE, count: count)
    let isWhole = unsafe block.withUnsafeBytes { block in
      unsafe value.withUnsafeMutableBytes { value in
        unsafe dictionary.withUnsafeBytes { unsafe LZ4.decompress(block, with: $0, into: value) }
      }
    }
    return isWhole ? value : nil
  }

  private func dictionary(_ bytes: [UInt8]) -> LZ4Dictionary {
    unsafe bytes.withUnsafeBytes { unsafe LZ4Dictionary($0) }
  }

  @Test(arguments: [false, true]) func valuesComeBackAndTheSameDictionaryGivesTheSameBlock(_ high: Bool) {
    let trained = DictionaryTraining.train(samples: Self.samples)
    #expect(trained.count > 4000 && trained.count <= 1 << 16)
    #expect(trained == DictionaryTraining.train(samples: Self.samples))
    let (first, second) = (dictionary(trained), dictionary(trained))
    for number in 1000..<1100 {
      let value = Self.value(number)
      guard let block = compress(value, first, high: high) else {
        Issue.record("not compressed")
        continue
      }
      #expect(block.count < value.count * 6 / 10)
      #expect(block == compress(value, second, high: high))
      #expect(decompress(block, value.count, trained) == value)
      #expect(decompress(block, value.count, []) != value)
      #expect(decompress(block, value.count + 1, trained) == nil)
    }
  }

  /// A value made of pieces of the dictionary, pieces of itself, runs, and noise.
  private func mixture(_ dictionary: [UInt8], _ count: Int, _ random: inout SplitMix64) -> [UInt8] {
    var value: [UInt8] = []
    while value.count < count {
      let length = 1 << Int.random(in: 0...10, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: value += dictionary.dropFirst(Int.random(in: 0..<dictionary.count, using: &random)).prefix(length)
      case 1 where !value.isEmpty:
        value += value.dropFirst(value.indices.randomElement(using: &random) ?? 0).prefix(length)
      case 2: value += [UInt8](repeating: UInt8(length & 0xFF), count: length)
      default: value += [UInt8].noise(length, seed: random.next())
      }
    }
    return Array(value.prefix(count))
  }

  @Test(arguments: seeds) func valuesOfAnyLengthAndDictionariesOfAnyLengthGoTogether(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let all = [UInt8].noise(1 << 16, seed: seed)
    var compressed = 0
    for round in 0..<60 {
      let content = Array(all.prefix(round % 6 == 0 ? 1 << 16 : Int.random(in: 1...1 << 16, using: &random)))
      let dictionary = dictionary(content)
      for _ in 0..<4 {
        let longest = round % 10 == 0 ? LZ4Compressor.longestValueWithDictionary : 2000
        let value = mixture(content, Int.random(in: 0...longest, using: &random), &random)
        guard let block = compress(value, dictionary) else { continue }
        compressed += 1
        #expect(decompress(block, value.count, content) == value)
      }
    }
    #expect(compressed > 100)
  }

  @Test func whatDoesNotFitBelowIsRefused() {
    var compressor = LZ4HighCompressor(dictionary(DictionaryTraining.train(samples: Self.samples)))
    let value = Self.value(5000)
    var target = [UInt8](repeating: 0, count: value.count)
    unsafe value.withUnsafeBytes { value in
      unsafe target.withUnsafeMutableBytes { target in
        let base = target.baseAddress!
        let length = unsafe compressor.compress(value, below: value.count, into: base) ?? 0
        #expect(length > 0)
        #expect(unsafe compressor.compress(value, below: length, into: base) == nil)
        #expect(unsafe compressor.compress(value, below: length + 1, into: base) == length)
        #expect(unsafe compressor.compress(value, below: 0, into: base) == nil)
      }
    }
  }

  @Test func samplesThatHaveNothingInCommonGiveNoDictionary() {
    #expect(DictionaryTraining.train(samples: []).isEmpty)
    #expect(DictionaryTraining.train(samples: [[], [1], [1, 2]]).isEmpty)
    #expect(DictionaryTraining.train(samples: Self.samples, capacity: 1000).count <= 1000)
  }

  @Test(arguments: seeds) func anyBlockAndAnyDictionaryIsRefusedOrFits(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let trained = DictionaryTraining.train(samples: Array(Self.samples.prefix(100)))
    for number in 0..<300 {
      let value = Self.value(number)
      var block = compress(value, dictionary(trained)) ?? value
      for _ in 0..<3 {
        block[Int.random(in: block.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
      _ = decompress(block, value.count, Array(trained.suffix(Int.random(in: 0...trained.count, using: &random))))
    }
    #expect(decompress([0, 0], 1, [UInt8](repeating: 0, count: 1 << 16 + 1)) == nil)
  }

  /// The header of a record in keyspace 1 with an empty key and four stored bytes; `rest` is the fields that follow.
  private func header(_ tag: UInt8, _ rest: [UInt8]) -> RecordHeader? {
    let record: [UInt8] = [0, 0, 0, 0, tag, 1, 0, 4] + rest + [UInt8](repeating: 0, count: 40)
    return unsafe record.withUnsafeBytes { unsafe RecordHeader($0.baseAddress!, available: $0.count, baseSequence: 0) }
  }

  @Test func aDictionaryIsNamedByCompressedPutsOnly() {
    #expect(header(0x31, [9, 5, 1, 1])?.dictionary == 5)
    #expect(header(0x31, [9, 5, 1, 1])?.rawLength == 9)
    #expect(header(0x11, [9, 1, 1])?.dictionary == 0)
    #expect(header(0x21, [5, 1, 1]) == nil)
    #expect(header(0x31, [9, 0, 1, 1]) == nil)
    #expect(header(0x31, [9, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, 1]) == nil)
    for kind in [2, 3, 4, 5, 6] as [UInt8] { #expect(header(0x30 | kind, [9, 5, 1, 1]) == nil) }
  }
}
