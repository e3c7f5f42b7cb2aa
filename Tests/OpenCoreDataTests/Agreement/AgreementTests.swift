import Testing

/// Random programs on contexts that have coordinators of their own and save under every merge policy.
///
/// `OPENCOREDATA_SEED` replays a program, `OPENCOREDATA_PROGRAMS` runs more of them, and `OPENCOREDATA_TRACE` prints
/// each step before it is run.
@Suite struct AgreementTests {
  private static let count = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 25

  @Test(
    "After every save, whatever its merge policy has decided, both ends of each relationship agree and no member is missing.",
    arguments: AgreementStores.Kind.allCases)
  func everySave(_ kind: AgreementStores.Kind) {
    let first = chooseSeed("AgreementTests, \(kind)")
    for index in 0..<Self.count {
      let seed = first &+ UInt64(index)
      do {
        try AgreementProgram.run(seed: seed, kind, isTraced: setting("OPENCOREDATA_TRACE") != nil)
      } catch {
        Issue.record("OPENCOREDATA_SEED=\(seed): \(error)")
        return
      }
    }
  }
}
