/// The rows that a run touches, step by step, and the values that it writes there: the same for every engine.
struct AccessPattern: Sendable {
  /// How a step chooses its row.
  enum Order: Sendable {
    /// Each row once, by number; the keys are in random order even so.
    case ascending
    /// Any row of the range; the same seed gives the same rows.
    case random(seed: UInt64)
  }

  let rows: Range<UInt64>
  let order: Order
  let pool: ValuePool
  /// The version of the values written.
  let version: UInt64
  var steps: Range<Int>

  /// Ascending through all of `rows`.
  init(ascending rows: Range<UInt64>, pool: ValuePool, version: UInt64 = 0) {
    self.rows = rows
    order = .ascending
    self.pool = pool
    self.version = version
    steps = 0..<rows.count
  }

  /// `count` random rows of `rows`.
  init(random rows: Range<UInt64>, count: Int, seed: UInt64, pool: ValuePool, version: UInt64 = 0) {
    self.rows = rows
    order = .random(seed: mixed(seed))
    self.pool = pool
    self.version = version
    steps = 0..<count
  }

  @inline(__always)
  func row(at step: Int) -> UInt64 {
    switch order {
    case .ascending:
      rows.lowerBound &+ UInt64(step)
    case .random(let seed):
      rows.lowerBound &+ mixed(seed &+ UInt64(step)).multipliedFullWidth(by: UInt64(rows.count)).high
    }
  }

  @inline(__always)
  func value(of row: UInt64) -> UnsafeRawPointer {
    pool.value(of: row, version: version)
  }

  /// The same pattern, limited to some of its steps.
  func limited(to steps: Range<Int>) -> AccessPattern {
    var part = self
    part.steps = steps
    return part
  }

  /// The share of one thread out of `threads`: consecutive steps.
  func share(_ index: Int, of threads: Int) -> AccessPattern {
    let first = steps.lowerBound + steps.count * index / threads
    let end = steps.lowerBound + steps.count * (index + 1) / threads
    return limited(to: first..<end)
  }
}
