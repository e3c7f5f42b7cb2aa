/// Random numbers that are the same in every run.
package struct SplitMix: RandomNumberGenerator {
  private var state: UInt64 = 2026

  package init() {}

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number below `limit`, small ones more often than large ones.
  package mutating func small(below limit: Int) -> Int {
    let fraction = Double.random(in: 0..<1, using: &self)
    return Int(fraction * fraction * Double(limit))
  }

  /// One of 3,000 words, some of which are more frequent than others.
  package mutating func word() -> String {
    let syllables = ["ba", "con", "der", "fi", "gra", "in", "ker", "lib", "mo", "net", "per", "ro", "ser", "ta", "vi"]
    var rest = small(below: 3000)
    var word = ""
    repeat {
      word += syllables[rest % syllables.count]
      rest /= syllables.count
    } while rest > 0
    return word
  }

  /// Sixteen random hexadecimal digits.
  package mutating func hexadecimal() -> String {
    let digits = String(next(), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
