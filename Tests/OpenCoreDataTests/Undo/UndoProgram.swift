/// A random program of a context with an undo manager, as values. Objects are represented by numbers in the order of
/// their insertion; an operation whose objects are not there is skipped.
struct UndoProgram: Sendable {
  enum Operation: Sendable {
    case insert
    case number(Int, Int?)
    case primitiveNumber(Int, Int)
    case mood(Int, Int)
    case relate(Int, UndoGraph.Relationship, [Int])
    case add(Int, UndoGraph.Relationship, Int)
    case remove(Int, UndoGraph.Relationship, Int)
    case move(Int, UndoGraph.Relationship, from: Int, to: Int)
    case delete(Int)
    /// Inserts a deleted object again.
    case revive(Int)
    case read(Int)
  }

  enum Step: Sendable {
    case change([Operation])
    /// Changes in a group that the application opens, with another group in it.
    case group([Operation], [Operation])
    case undo, redo
    case save
    case refresh
  }

  var steps: [Step]

  init(steps: [Step]) { self.steps = steps }

  init(seed: UInt64, hasSaves: Bool) {
    var random = SeededGenerator(seed: seed)
    func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    func pick<Element>(_ elements: [Element]) -> Element { elements[chance(elements.count)] }
    let (spread, length) = ([3, 5, 8][chance(3)], 2 + chance(12))
    func operation() -> Operation {
      let (x, y) = (chance(spread), chance(spread))
      // It is not defined what is left of saved references to deleted objects.
      let relationships = UndoGraph.relationships.filter { !hasSaves || !$0.mayDangle }
      let toMany = pick(relationships.filter(\.isToMany))
      switch chance(22) {
      case 0, 1: return .insert
      case 2, 3: return .number(x, chance(5) == 0 ? nil : chance(100))
      case 4: return .primitiveNumber(x, chance(100))
      // A refresh discards transient values that have been saved.
      case 5: return hasSaves ? .insert : .mood(x, chance(100))
      case 6...9:
        return .relate(x, pick(relationships.filter { !$0.isToMany }), chance(4) == 0 ? [] : [y])
      case 10, 11: return .relate(x, toMany, (0..<chance(4)).map { _ in chance(spread) })
      case 12, 13: return .add(x, toMany, y)
      case 14, 15: return .remove(x, toMany, y)
      case 16: return .move(x, pick(relationships.filter(\.isOrdered)), from: chance(3), to: chance(3))
      case 17, 18, 19: return .delete(x)
      // Members of relationships without an inverse are not known after an event that also revives objects.
      case 20: return hasSaves ? .delete(x) : .revive(x)
      default: return .read(x)
      }
    }
    func operations() -> [Operation] { (0...chance(3)).map { _ in operation() } }
    steps = (0..<length).map { _ in
      switch chance(hasSaves ? 14 : 11) {
      case 0: .undo
      case 1: .redo
      case 2: .group(operations(), operations())
      case 3: .refresh
      case 11...: .save
      default: .change(operations())
      }
    }
  }

  /// A program with fewer steps or operations that fails, too.
  func shrunk(_ fails: (UndoProgram) -> Bool) -> UndoProgram {
    var program = self
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for candidate in program.smaller where fails(candidate) {
        (program, isSmaller) = (candidate, true)
        break
      }
    }
    return program
  }

  private var smaller: [UndoProgram] {
    steps.indices.flatMap { index in
      var fewer = steps
      fewer.remove(at: index)
      return [UndoProgram(steps: fewer)]
        + steps[index].smaller.map { step in
          var steps = steps
          steps[index] = step
          return UndoProgram(steps: steps)
        }
    }
  }
}

extension UndoProgram.Step {
  fileprivate var smaller: [Self] {
    switch self {
    case .change(let operations):
      operations.indices.map { index in .change(Array(operations[..<index] + operations[(index + 1)...])) }
    case .group(let outer, let inner): [.change(outer + inner)]
    case .undo, .redo, .save, .refresh: []
    }
  }
}
