/// Both sides do the same tasks in turns: each does a task before the other does the next one.
package struct Round<Measured: Figure, Rival> {
  /// Core Data's side first.
  package let contenders: [Rival]
  let order: [Int]
  /// The values of both sides in milliseconds or MiB, Core Data's first.
  private(set) var values: [Measured: [Double]] = [:]

  init(_ contenders: [Rival], order: [Int]) {
    self.contenders = contenders
    self.order = order
  }

  package func each<Result>(_ body: (Rival) throws -> Result) rethrows -> [Result] {
    let results = try order.map { try body(contenders[$0]) }
    return order.map { results[$0] }
  }

  /// Times a task, which must have the same answer on both sides.
  package mutating func time(_ figure: Measured, _ task: (Rival) throws -> Int) throws {
    let results = try each { side in
      let clock = ContinuousClock()
      let start = clock.now
      let answer = try task(side)
      return (answer, (clock.now - start) / .milliseconds(1))
    }
    guard results[0].0 == results[1].0 else {
      throw Disagreement(task: figure.rawValue, answers: results.map(\.0))
    }
    values[figure] = results.map(\.1)
  }

  /// Times a task without an answer.
  package mutating func time(_ figure: Measured, _ task: (Rival) throws -> Void) throws {
    try time(figure) { side in
      try task(side)
      return 0
    }
  }

  package mutating func note(_ figure: Measured, bytes: [Int]) {
    values[figure] = bytes.map { Double($0) / Double(1 << 20) }
  }

  /// Checks that both sides hold the same and, if `expected` is given, just that.
  package func compare<Content: Equatable>(
    with expected: Content? = nil, _ content: (Rival) throws -> Content
  ) throws {
    let found = try each(content)
    guard found[0] == found[1], found[0] == expected ?? found[0] else {
      throw Difference(contents: found.map { "\($0)" })
    }
  }
}

/// The two sides answered differently.
struct Disagreement: Error, CustomStringConvertible {
  let task: String
  let answers: [Int]

  var description: String { "\(task): the answers are \(answers)" }
}

/// The two sides hold different objects, or not those that were imported.
struct Difference: Error, CustomStringConvertible {
  let contents: [String]

  var description: String { "the contents differ: \(contents.joined(separator: ", "))" }
}
