/// Makes a failing program smaller: removes steps as long as the remaining ones still fail.
enum CrashShrinker {
  private static let mostRuns = 150

  static func shrink(_ program: CrashProgram, _ failure: String) -> (program: CrashProgram, failure: String) {
    var best = (program: program, failure: failure)
    var runs = 0
    var length = max(1, program.steps.count / 2)
    while length > 0 {
      var start = 0
      while start < best.program.steps.count, runs < mostRuns {
        var candidate = best.program
        candidate.steps.removeSubrange(start..<min(start + length, candidate.steps.count))
        runs += 1
        do {
          _ = try CrashRunner.run(candidate)
          start += length
        } catch {
          best = (candidate, "\(error)")
        }
      }
      length /= 2
    }
    return best
  }
}
