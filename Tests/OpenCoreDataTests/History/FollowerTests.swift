import Testing

/// `OPENCOREDATA_SEED` replays a program, and `OPENCOREDATA_PROGRAMS` runs more of them.
@Suite struct FollowerTests {
  private static let count = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 8

  @Test(
    "Whoever follows a store by its history has what the store has, or is told that the token has expired.",
    arguments: TrackedStore.Kind.allCases)
  func following(_ kind: TrackedStore.Kind) {
    let first = chooseSeed("FollowerTests, \(kind)")
    var expirations = 0
    for index in 0..<Self.count {
      let seed = first &+ UInt64(index)
      do {
        expirations += try FollowerProgram.run(seed: seed, kind)
      } catch {
        Issue.record("OPENCOREDATA_SEED=\(seed): \(error)")
        return
      }
    }
    if Self.count > 7 { #expect(expirations > 0) }
  }
}
