/// The steps to run, and whether contexts avoid changing each other's relationships.
struct GraphProgram: Sendable {
  var steps: [GraphStep]
  /// Whether a context leaves objects alone whose relationships the other context is changing. If relationships get
  /// tangled in spite of that, the program ends there.
  var isCareful = true

  init(steps: [GraphStep], isCareful: Bool = true) {
    self.steps = steps
    self.isCareful = isCareful
  }

  /// A random program of `length` steps for one context or two.
  init(seed: UInt64, contexts: Int, isCareful: Bool, length: Int) {
    var maker = GraphProgramMaker(seed: seed, contexts: contexts)
    self.isCareful = isCareful
    steps =
      (0..<length).map { _ in maker.step() } + (0..<contexts).map { GraphStep(context: $0, operation: .inspect) }
  }
}

/// Makes random steps, without knowing whether they make sense at their place.
private struct GraphProgramMaker {
  private var random: SeededGenerator
  private let contexts: Int
  private var lastObject = 0
  /// How many of the latest objects the steps choose from.
  private let spread: Int

  init(seed: UInt64, contexts: Int) {
    random = SeededGenerator(seed: seed)
    self.contexts = contexts
    spread = [3, 6, 12].randomElement(using: &random)!
  }

  mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[chance(elements.count)] }

  mutating func step() -> GraphStep {
    GraphStep(context: chance(contexts), operation: operation(), endsEvent: chance(5) > 0)
  }

  private mutating func object() -> Int { max(1, lastObject - chance(spread)) }

  private mutating func operation() -> GraphStep.Operation {
    if lastObject < 2 { return insert() }
    switch chance(100) {
    case 0..<12: return insert()
    case 12..<22: return set()
    case 22..<34:
      let property = pick(GraphProperty.relationships.filter { !$0.isToMany })
      return .set(object(), property, .links(chance(4) == 0 ? [] : [object()]))
    case 34..<43: return .add(object(), pick(GraphProperty.toMany), object())
    case 43..<47: return .remove(object(), pick(GraphProperty.toMany), object())
    case 47..<50: return .place(object(), pick([.line, .members]), object(), at: chance(4))
    case 50..<53: return replace()
    case 53..<58: return .delete(object())
    case 58..<64: return .read(object(), pick(GraphProperty.allCases))
    case 64..<71: return .fetch(query())
    case 71: return .object(object())
    case 72: return .existingObject(object())
    case 73: return .obtainPermanentIDs
    case 74..<84: return .save
    case 84: return .refusedSave
    case 85: return .rollback
    case 86: return .reset
    case 87..<89: return .refresh(object(), mergeChanges: chance(2) == 0)
    case 89: return .refreshAll
    case 90: return .forget
    case 91..<95: return .merge
    case 95..<97: return .policy(pick(GraphPolicy.allCases))
    default: return .inspect
    }
  }

  private mutating func insert() -> GraphStep.Operation {
    lastObject += 1
    return .insert(lastObject)
  }

  private mutating func set() -> GraphStep.Operation {
    if chance(2) == 0 { return .set(object(), .number, .number(pick([nil, 1, 2, 3]))) }
    return .set(object(), .text, .text(chance(12) == 0 ? nil : pick(["a", "b", "c"])))
  }

  private mutating func replace() -> GraphStep.Operation {
    var members: [Int] = []
    for _ in 0..<chance(5) {
      let member = object()
      if !members.contains(member) { members.append(member) }
    }
    let property = pick(GraphProperty.toMany)
    return .set(object(), property, .links(members, of: property))
  }

  private mutating func query() -> GraphQuery {
    var query = GraphQuery()
    query.onlyLeaves = chance(4) == 0
    query.condition =
      switch chance(6) {
      case 0: .numberAtLeast(1 + chance(3))
      case 1: .numberIsNil
      case 2: .textIs(pick(["a", "b"]))
      case 3: .hasParent(chance(2) == 0)
      default: .all
      }
    query.isDescending = chance(2) == 0
    query.offset = pick([0, 0, 0, 1, 2])
    query.limit = pick([0, 0, 0, 1, 3])
    query.includesPendingChanges = chance(5) > 0
    query.result = pick([.objects, .objects, .realisedObjects, .identifiers, .count])
    return query
  }
}
