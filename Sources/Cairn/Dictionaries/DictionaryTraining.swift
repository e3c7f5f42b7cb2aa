/// Chooses the content of a dictionary: pieces of samples whose runs of bytes occur in many other samples too.
///
/// After Liao, Petri, Moffat and Wirth, "Effective construction of relative Lempel-Ziv dictionaries" (WWW 2016): the
/// samples are divided into as many parts as there are pieces; from each part in turn, the piece is taken whose runs
/// are the most frequent and have not been taken yet. The same samples always give the same dictionary.
package enum DictionaryTraining {
  /// Bytes in a run.
  private static let run = 8
  /// Bytes in a piece.
  private static let piece = 256
  private static let tableBits: UInt64 = 18

  /// A dictionary of at most `capacity` bytes, with the most useful pieces at its end; empty if the samples have
  /// nothing in common.
  package static func train(samples: [[UInt8]], capacity: Int = LZ4Dictionary.maximumLength) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(samples.reduce(0) { $0 + $1.count })
    var ends: [Int] = []
    for sample in samples {
      text += sample
      ends.append(text.count)
    }
    guard text.count >= piece, capacity >= piece else { return [] }
    return unsafe text.withUnsafeBytes { unsafe train($0, ends: ends, capacity: capacity) }
  }

  private static func train(_ text: UnsafeRawBufferPointer, ends: [Int], capacity: Int) -> [UInt8] {
    let runs = text.count - run + 1
    var usefulness = unsafe usefulness(text, ends)
    var inWindow = [UInt16](repeating: 0, count: 1 << Int(tableBits))
    let parts = max(1, capacity / piece)
    let length = max(piece, (runs + parts - 1) / parts)
    var pieces: [(range: Range<Int>, score: Int)] = []
    var room = capacity
    var fruitless = 0
    var start = 0
    while room >= run, fruitless < parts {
      let end = min(start + length, runs)
      let best = unsafe best(text, start..<end, &usefulness, &inWindow)
      start = end == runs ? 0 : end
      guard let best else {
        fruitless += 1
        continue
      }
      fruitless = 0
      let range = best.range.lowerBound..<min(best.range.upperBound, best.range.lowerBound + room)
      room -= range.count
      pieces.append((range, best.score))
    }
    pieces.sort { ($0.score, $0.range.lowerBound) < ($1.score, $1.range.lowerBound) }
    var dictionary: [UInt8] = []
    dictionary.reserveCapacity(capacity - room)
    for piece in pieces { unsafe dictionary.append(contentsOf: text[piece.range]) }
    return dictionary
  }

  @inline(__always)
  private static func hash(_ text: UnsafeRawBufferPointer, _ position: Int) -> Int {
    let word = unsafe UInt64(littleEndian: text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    return Int(truncatingIfNeeded: (word &* 0xCF1B_BCDC_B7A5_6463) >> (64 - tableBits))
  }

  /// For each run, by hash, how many samples besides the first have it.
  private static func usefulness(_ text: UnsafeRawBufferPointer, _ ends: [Int]) -> [UInt32] {
    var counts = [UInt32](repeating: 0, count: 1 << Int(tableBits))
    var seenIn = [UInt32](repeating: 0, count: 1 << Int(tableBits))
    var start = 0
    for (sample, end) in ends.enumerated() {
      for position in start..<max(start, end - run + 1) {
        let hash = unsafe hash(text, position)
        if seenIn[hash] != UInt32(truncatingIfNeeded: sample + 1) {
          if seenIn[hash] != 0 { counts[hash] += 1 }
          seenIn[hash] = UInt32(truncatingIfNeeded: sample + 1)
        }
      }
      start = end
    }
    return counts
  }

  /// The most useful piece that begins in a part, without useless runs at its ends; nil if the part has no useful run.
  /// Its runs count as useless from then on.
  private static func best(
    _ text: UnsafeRawBufferPointer, _ part: Range<Int>, _ usefulness: inout [UInt32], _ inWindow: inout [UInt16]
  ) -> (range: Range<Int>, score: Int)? {
    let runsInPiece = piece - run + 1
    var score = 0
    var best = (start: 0, end: 0, score: 0)
    var start = part.lowerBound
    for position in part {
      let new = unsafe hash(text, position)
      if inWindow[new] == 0 { score += Int(usefulness[new]) }
      inWindow[new] += 1
      if position - start == runsInPiece {
        let old = unsafe hash(text, start)
        inWindow[old] -= 1
        if inWindow[old] == 0 { score -= Int(usefulness[old]) }
        start += 1
      }
      if score > best.score { best = (start, position + 1, score) }
    }
    for position in start..<part.upperBound { inWindow[unsafe hash(text, position)] = 0 }
    guard best.score > 0 else { return nil }
    var (first, last) = (best.end, best.start)
    for position in best.start..<best.end {
      let hash = unsafe hash(text, position)
      guard usefulness[hash] > 0 else { continue }
      usefulness[hash] = 0
      first = min(first, position)
      last = max(last, position)
    }
    return (first..<last + run, best.score)
  }
}
