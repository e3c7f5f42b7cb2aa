import Glibc

/// A generator whose numbers are determined by its seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// The seed of a random test: the value of `OPENCOREDATA_SEED`, or a new one. Prints it, so that the test can be
/// repeated.
func chooseSeed(_ test: String = #function) -> UInt64 {
  let seed = setting("OPENCOREDATA_SEED").flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
  print("\(test): OPENCOREDATA_SEED=\(seed)")
  return seed
}

/// The value of an environment variable; nil if it is not set.
func setting(_ variable: String) -> String? {
  unsafe getenv(variable).map { unsafe String(cString: $0) }
}
