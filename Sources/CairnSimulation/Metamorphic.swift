import Cairn

/// Checks that results do not depend on the size of segments, compression, dictionaries, checkpoints, compaction, or
/// the order of keyspaces.
package enum Metamorphic {
  /// Runs a random program several times, each time with other options.
  package static func run(seed: UInt64) -> (tally: Tally, failure: Failure?, program: Program) {
    var program = Program.random(seed: seed)
    // Some operations happen at a certain call, or at a commit that the store may have made by itself; with other
    // options they would happen elsewhere.
    program.steps.removeAll { step in
      switch step.operation {
      case .crash, .fail, .space, .flip, .misdirect, .amid, .lookBack, .goBack, .copyFiles, .spoil: true
      default: false
      }
    }
    let first = Runner.run(program, .none)
    var tally = first.tally
    tally.metamorphicPrograms = 1
    if let failure = first.failure { return (tally, failure, program) }
    for variant in variants(program.options) {
      var other = program
      other.options = variant
      let result = Runner.run(other, .none)
      tally.add(result.tally)
      if let failure = result.failure { return (tally, failure, other) }
      if let index = first.observations.indices.first(where: {
        !result.observations.indices.contains($0) || result.observations[$0] != first.observations[$0]
      }) {
        let words = "\(first.observations[index]), and with other options \(result.observations[index])"
        return (tally, Failure(.metamorphic, words), other)
      }
    }
    return (tally, nil, program)
  }

  private static func variants(_ options: Program.Options) -> [Program.Options] {
    var variants = Array(repeating: options, count: 8)
    variants[0].segmentSize = 1 << 17
    variants[1].segmentSize = 1 << 20
    variants[2].compression.toggle()
    variants[3].checkpoints.toggle()
    variants[4].isOrdered.toggle()
    variants[5].compaction.toggle()
    variants[6].dictionaries.toggle()
    variants[7].isTight.toggle()
    return variants
  }
}
