import Cairn
import CairnInspection
import CairnSimulation
import Testing

/// The small parts that reports are made of.
@Suite struct FiguresTests {
  @Test(arguments: [
    (0, "1970-01-01 00:00:00.000 UTC"), (951_782_400, "2000-02-29 00:00:00.000 UTC"),
    (1_700_000_000, "2023-11-14 22:13:20.000 UTC"), (4_107_542_399, "2100-02-28 23:59:59.000 UTC"),
    (4_107_542_400, "2100-03-01 00:00:00.000 UTC"),
  ])
  func timestampsAreDates(_ seconds: UInt64, _ text: String) {
    #expect(Timestamp(nanoseconds: seconds * 1_000_000_000).description == text)
  }

  @Test func sizesAreCountedByPowersOfTwo() {
    var histogram = SizeHistogram()
    for size in [0, 1, 2, 3, 4, 7, 8, 1 << 40] { histogram.add(size) }
    #expect(histogram.buckets.map(\.count).filter { $0 > 0 } == [1, 1, 2, 2, 1, 1])
    #expect(histogram.buckets[3].sizes == 4...7)
    #expect(histogram.buckets.last?.sizes == 1 << 40...(1 << 41) - 1)
    #expect(histogram.largest == 1 << 40)
  }

  @Test func beginningsOfKeysAreCounted() {
    var tally = PrefixTally()
    for number in -3..<2005 as Range<Int64> { tally.add(row: .integer(number), bytes: 1) }
    for key in [
      .integer(.min), .integer(.max), "Berlin/Mitte", "Berlin/Wedding", [7, "a"], .bytes([]), .uuid(1),
    ]
      as [Key]
    {
      tally.add(writeOf: key)
    }
    let rows = tally.hottest(100)
    #expect(rows.first?.prefix == "\"Berlin/\" …")
    #expect(rows.first?.writes == 2)
    #expect(rows.first { $0.prefix == "0 … 999" }?.rows == 1000)
    #expect(rows.first { $0.prefix == "-1000 … -1" }?.rows == 3)
    #expect(!tally.isApproximate)
  }

  @Test func valuesThatAreAlikeGetADictionaryAndNoiseGetsNone() {
    let letters = (0..<400).map { number in
      Array("Dear customer \(number * 7919 % 1000), thank you for your letter of the \(number % 28)th.".utf8)
    }
    let trial = CompressionTrial(samples: letters)
    #expect(trial.dictionaryPays(for: 1 << 20))
    var random = SplitMix64(seed: 1)
    let noise = (0..<400).map { _ in (0..<100).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
    #expect(!CompressionTrial(samples: noise).dictionaryPays(for: 1 << 20))
    #expect(CompressionTrial(samples: []).rawBytes == 0)
  }
}
