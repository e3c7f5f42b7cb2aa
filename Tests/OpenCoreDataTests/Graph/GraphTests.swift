import Testing

/// Random programs, run against OpenCoreData and against a plain model of it.
///
/// `OPENCOREDATA_SEED` replays a program, `OPENCOREDATA_PROGRAMS` runs more of them, and `OPENCOREDATA_TRACE` prints
/// each step before it is run.
@Suite struct GraphTests {
  private static let count = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 15

  @Test(
    "Objects, changes, fetches and saves of one context equal those of a model.",
    arguments: GraphSubject.Kind.stores + [.child, .grandchild])
  func oneContext(_ kind: GraphSubject.Kind) { run(kind, contexts: 1) }

  @Test(
    "Objects, changes and conflicts of two contexts over one store equal those of a model.",
    arguments: GraphSubject.Kind.stores)
  func twoContexts(_ kind: GraphSubject.Kind) { run(kind, contexts: 2) }

  @Test(
    "Relationships changed by two contexts are consistent once both are saved, where conflicts fail a save.",
    arguments: GraphSubject.Kind.stores)
  func tangledContexts(_ kind: GraphSubject.Kind) { run(kind, contexts: 2, isCareful: false) }

  private func run(_ kind: GraphSubject.Kind, contexts: Int, isCareful: Bool = true) {
    let first = chooseSeed("GraphTests, \(kind), contexts: \(contexts)\(isCareful ? "" : ", tangled")")
    let isTraced = setting("OPENCOREDATA_TRACE") != nil
    for index in 0..<Self.count {
      let seed = first &+ UInt64(index)
      let program = GraphProgram(seed: seed, contexts: contexts, isCareful: isCareful, length: 120)
      if isTraced { print("OPENCOREDATA_SEED=\(seed)") }
      do {
        try GraphRunner.run(program, kind, isTraced: isTraced)
      } catch {
        var shrinker = GraphShrinker(program, error, kind)
        shrinker.shrink()
        let steps = shrinker.program.steps.map { "  \($0)" }.joined(separator: "\n")
        Issue.record("OPENCOREDATA_SEED=\(seed): \(shrinker.failure)\n\(steps)")
        return
      }
    }
  }
}
