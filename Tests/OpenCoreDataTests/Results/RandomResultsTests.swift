import OpenCoreData
import Testing

/// Random programs on a context with results controllers. After each event every controller has what a new fetch
/// returns, and so has everybody who was told of its changes.
///
/// `OPENCOREDATA_SEED` replays a program, and `OPENCOREDATA_PROGRAMS` runs more of them.
@Suite("Results controllers in random programs")
struct RandomResultsTests {
  private static let programs = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 10

  @Test(
    "After each event a controller equals a new fetch, and so do the lists of all forms of delegates.",
    arguments: Shelf.Kind.allCases)
  func programs(_ kind: Shelf.Kind) throws {
    let seed = chooseSeed("RandomResultsTests, \(kind)")
    for number in 0..<Self.programs {
      let own = seed &+ UInt64(number)
      try Fixtures.withFolder { folder in
        let program = try ResultsProgram(kind, folder.appending(path: "store"), seed: own)
        defer { program.close() }
        if let failure = try program.run(steps: 60) {
          Issue.record("OPENCOREDATA_SEED=\(own) OPENCOREDATA_PROGRAMS=1: \(failure)")
        }
      }
    }
  }
}
