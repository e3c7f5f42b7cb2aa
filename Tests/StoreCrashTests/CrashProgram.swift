import Cairn
import CairnSimulation

/// A random sequence of steps.
struct CrashProgram: Sendable {
  enum Length: CaseIterable, Sendable {
    case short, long, wide
  }

  let seed: UInt64
  let length: Length
  var steps: [CrashStep]

  /// The power fails at one in this many calls.
  var oneIn: Int {
    switch length {
    case .short: 1
    case .long: 12
    case .wide: 16
    }
  }

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.seed = seed
    length = [.short, .short, .long, .wide][Int.random(in: 0..<4, using: &random)]
    let count =
      switch length {
      case .short: Int.random(in: 4...12, using: &random)
      case .long: Int.random(in: 60...140, using: &random)
      case .wide: Int.random(in: 20...40, using: &random)
      }
    let isWide = length == .wide
    steps = (0..<3).map { .insert(isSpecial: $0 == 1) }
    if isWide { steps += [Self.fill(&random), .save(keepsObjects: true)] }
    steps += (0..<count).map { _ in Self.step(isWide: isWide, &random) }
    steps.append(.save(keepsObjects: false))
  }

  private static func step(isWide: Bool, _ random: inout SplitMix64) -> CrashStep {
    func pick() -> Int { Int.random(in: 0..<1 << 20, using: &random) }
    func relation() -> Relation { Relation.allCases.randomElement(using: &random) ?? .parent }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<8: return .insert(isSpecial: .random(using: &random))
    case 8..<20:
      let attribute = Attribute.allCases.randomElement(using: &random) ?? .number
      return .set(pick(), attribute, Int.random(in: 0..<8, using: &random) == 0 ? nil : pick())
    case 20..<22: return .claim(pick(), pick())
    case 22..<46: return .relate(pick(), relation(), pick())
    case 46..<52: return .unrelate(pick(), relation(), pick())
    case 52..<56:
      return .move(pick(), [.line, .members, .chain][Int.random(in: 0..<3, using: &random)], from: pick(), to: pick())
    case 56..<62: return .delete(pick())
    case 62..<65: return isWide ? fill(&random) : .relate(pick(), relation(), pick())
    case 65..<67: return .reserve(Int.random(in: 1...3, using: &random))
    case 67..<68: return .reserveMany(Int.random(in: 1...3000, using: &random))
    case 68..<85: return .save(keepsObjects: .random(using: &random))
    case 85..<87: return .rollBack
    case 87..<88: return .sync
    case 88..<90: return .checkpoint
    case 90..<92: return .compact
    case 92..<95: return .background
    case 95..<98: return .reopen(isDurable: .random(using: &random))
    default: return .crash(seed: random.next())
    }
  }

  private static func fill(_ random: inout SplitMix64) -> CrashStep {
    let relation: Relation = [.children, .line, .members, .friends, .links][Int.random(in: 0..<5, using: &random)]
    return .fill(Int.random(in: 0..<100, using: &random), relation, Int.random(in: 50...260, using: &random))
  }
}
