import CHeap
import Foundation
import Testing

/// Counts the bytes that are allocated, in a process of its own, in which nothing else allocates.
@Suite(.enabled(if: heap_bytes() > 0)) struct MemoryGrowthTests {
  @Test(
    "The memory of a program does not grow when it repeats the same work.",
    arguments: Life.allCases.flatMap { life in life.kinds.map { (life, $0) } })
  func growth(_ life: Life, _ kind: StoreKind) async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      [life = life as Life, kind = kind as StoreKind] in
      heap_unite()
      heap_forget_errors()
      let rounds = try Rounds(kind)
      // Caches fill up, and hash tables find their sizes.
      try rounds.live(life, 150)
      var before = try least(rounds, life)
      // Cairn's index keeps what was deleted until compaction.
      let isLong = [.deletedElsewhere, .mergedDeletions].contains(life)
      let count = kind != .cairn ? 130 : isLong ? 1000 : 330
      // What stays behind does so in both halves; a hash table that grows once more does so in one.
      let growth = try (0..<2).map { _ in
        try rounds.live(life, count)
        let after = try least(rounds, life)
        defer { before = after }
        return (after - before) / (count + 100)
      }
      print("bytes a round: \(growth.min() ?? 0)")
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let growth = output.split(separator: "bytes a round: ").last.flatMap { Int($0.prefix { !$0.isNewline }) }
    #expect(growth ?? .max < 24, "\(output)")
  }
}

/// The least number of allocated bytes in 5 samples, between which 20 rounds each are lived: a cache that is about to
/// be emptied does not count.
private func least(_ rounds: Rounds, _ life: Life) throws -> Int {
  var least = Int.max
  for _ in 0..<5 {
    try rounds.live(life, 20)
    least = min(least, Int(heap_bytes()))
  }
  return least
}
