/// Makes a failing program shorter: removes steps as long as the remaining ones still fail.
struct GraphShrinker {
  private(set) var program: GraphProgram
  private(set) var failure: any Error
  private let kind: GraphSubject.Kind
  private var runs = 0

  init(_ program: GraphProgram, _ failure: any Error, _ kind: GraphSubject.Kind) {
    self.program = program
    self.failure = failure
    self.kind = kind
  }

  mutating func shrink() {
    var length = max(1, program.steps.count / 2)
    while true {
      let before = program.steps.count
      var start = 0
      while start < program.steps.count, runs < 500 {
        var candidate = program
        candidate.steps.removeSubrange(start..<min(start + length, program.steps.count))
        if !fails(candidate) { start += length }
      }
      if length == 1 && program.steps.count == before { break }
      length = max(1, length / 2)
    }
    endEvents()
  }

  private mutating func endEvents() {
    for index in program.steps.indices where !program.steps[index].endsEvent {
      var candidate = program
      candidate.steps[index].endsEvent = true
      _ = fails(candidate)
    }
  }

  private mutating func fails(_ candidate: GraphProgram) -> Bool {
    runs += 1
    do {
      try GraphRunner.run(candidate, kind)
      return false
    } catch {
      program = candidate
      failure = error
      return true
    }
  }
}
