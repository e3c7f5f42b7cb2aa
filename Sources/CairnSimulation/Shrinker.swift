import Cairn

/// Makes a failing program smaller, as long as the rest still fails: removes steps, then changes, then reduces sizes.
package struct Shrinker {
  private let sampling: [Runner.Sampling]
  private let isOutOfTime: () -> Bool
  private let deaf: Set<MemoryFileLayer.Operation>
  private(set) package var best: (program: Program, failure: Failure, sampling: Runner.Sampling)
  private(set) package var runs = 0

  package init(
    _ program: Program, _ failure: Failure, _ sampling: Runner.Sampling,
    deaf: Set<MemoryFileLayer.Operation> = [], isOutOfTime: @escaping () -> Bool
  ) {
    self.deaf = deaf
    best = (program, failure, sampling)
    // After a failure in one of many crash states, the changed program may fail in another crash state.
    self.sampling = [sampling, .every(decisions: 2, random: 2)].filter { $0 != .none || sampling == .none }
    self.isOutOfTime = isOutOfTime
  }

  package mutating func shrink() {
    var previous: Program
    repeat {
      previous = best.program
      removeSteps()
      removeChanges()
      simplify()
    } while best.program != previous && !isOutOfTime()
  }

  private mutating func tries(_ change: (inout Program) -> Void) -> Bool {
    guard !isOutOfTime() else { return false }
    var candidate = best.program
    change(&candidate)
    guard candidate != best.program else { return false }
    for sampling in sampling {
      runs += 1
      let result = Runner.run(candidate, sampling, deaf: deaf)
      if let failure = result.failure {
        best = (candidate, failure, sampling)
        return true
      }
    }
    return false
  }

  private mutating func removeSteps() {
    var length = max(1, best.program.steps.count / 2)
    while true {
      var start = 0
      while start < best.program.steps.count {
        let range = start..<min(start + length, best.program.steps.count)
        if !tries({ $0.steps.removeSubrange(range) }) { start += length }
      }
      if length == 1 { return }
      length /= 2
    }
  }

  private mutating func removeChanges() {
    for index in best.program.steps.indices {
      guard case .write(let changes, let durability, let beside) = best.program.steps[index].operation else { continue }
      if !beside.isEmpty { _ = tries { $0.steps[index].operation = .write(changes, durability) } }
      var position = 0
      while case .write(let changes, let durability, let beside) = best.program.steps[index].operation,
        position < changes.count, changes.count > 1
      {
        var fewer = changes
        fewer.remove(at: position)
        if !tries({ $0.steps[index].operation = .write(fewer, durability, beside: beside) }) { position += 1 }
      }
    }
  }

  private mutating func simplify() {
    _ = tries { $0.options.keys = .sequential }
    _ = tries { $0.options.compression = false }
    _ = tries { $0.options.checkpoints = false }
    _ = tries { $0.options.compaction = false }
    _ = tries { $0.options.dictionaries = false }
    _ = tries { $0.options.isOrdered = true }
    for index in best.program.steps.indices {
      guard case .write(let changes, let durability, let beside) = best.program.steps[index].operation else { continue }
      for position in changes.indices {
        for length in [1, 100, 1000, 10_000] {
          var simpler = changes
          guard case .put(let old, _) = simpler[position].kind, old > length else { continue }
          simpler[position].kind = .put(length: length, fill: 1)
          if tries({ $0.steps[index].operation = .write(simpler, durability, beside: beside) }) { break }
        }
      }
      if durability == .durable {
        if case .write(let changes, _, let beside) = best.program.steps[index].operation {
          _ = tries { $0.steps[index].operation = .write(changes, .buffered, beside: beside) }
        }
      }
    }
  }
}
