import OpenCoreData
import Testing

/// Random programs. `OPENCOREDATA_SEED` replays a program, and `OPENCOREDATA_PROGRAMS` runs more of them.
@Suite struct UndoProgramTests {
  private static let count = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 50

  @Test(
    "Each undo restores the graph and the sets of changed objects as they were, and each redo what was undone.",
    arguments: [NSInMemoryStoreType, TestRowStore.storeType])
  func withoutSaves(_ store: String) { run(store, hasSaves: false) }

  @Test(
    "Each undo and redo over saves restores the graph, and the result can be saved.",
    arguments: [NSInMemoryStoreType, TestRowStore.storeType])
  func withSaves(_ store: String) { run(store, hasSaves: true) }

  @Test("An object that is deleted again in the event that brings it back gets its place in ordered members again.")
  func deletedAgain() {
    let program = UndoProgram(steps: [
      .change([.delete(2), .revive(2), .delete(2)]), .change([.revive(2), .read(0)]), .undo, .undo,
    ])
    #expect(failure(program, NSInMemoryStoreType, false) == nil)
  }

  private func run(_ store: String, hasSaves: Bool) {
    let first = chooseSeed("UndoProgramTests, \(store)\(hasSaves ? ", saves" : "")")
    for index in 0..<Self.count {
      let seed = first &+ UInt64(index)
      let program = UndoProgram(seed: seed, hasSaves: hasSaves)
      guard failure(program, store, hasSaves) != nil else { continue }
      let shrunk = program.shrunk { failure($0, store, hasSaves) != nil }
      let steps = shrunk.steps.map { "  \($0)" }.joined(separator: "\n")
      Issue.record("OPENCOREDATA_SEED=\(seed): \(failure(shrunk, store, hasSaves) ?? "")\n\(steps)")
      return
    }
  }

  /// What is wrong when a program is run; nil if nothing is.
  private func failure(_ program: UndoProgram, _ store: String, _ hasSaves: Bool) -> String? {
    do {
      let graph = try UndoGraph(store, mayDangle: !hasSaves)
      return try graph.context.performAndWait {
        var run = UndoRun(graph, hasSaves: hasSaves)
        for (number, step) in program.steps.enumerated() {
          if let problem = try run.run(step) { return "step \(number): \(problem)" }
        }
        return try run.undoAndRedoAll()
      }
    } catch {
      return "\(error)"
    }
  }
}

/// The run of a program: remembers the states to which undo and redo lead.
private struct UndoRun {
  private let graph: UndoGraph
  private let hasSaves: Bool
  /// The states before the groups that can be undone, and after those that can be redone.
  private var before: [UndoGraph.State] = []
  private var after: [UndoGraph.State] = []
  private var now: UndoGraph.State

  init(_ graph: UndoGraph, hasSaves: Bool) {
    (self.graph, self.hasSaves) = (graph, hasSaves)
    now = graph.state()
  }

  mutating func run(_ step: UndoProgram.Step) throws -> String? {
    let (context, manager) = (graph.context, graph.manager)
    switch step {
    case .change(let operations):
      graph.apply(operations)
      context.processPendingChanges()
      return noteChange()
    case .group(let outer, let inner):
      manager.beginUndoGrouping()
      graph.apply(outer)
      manager.beginUndoGrouping()
      graph.apply(inner)
      manager.endUndoGrouping()
      manager.endUndoGrouping()
      return noteChange()
    case .undo: return undo()
    case .redo: return redo()
    case .save: return try save()
    case .refresh:
      context.refreshAllObjects()
      return compare(now, "refreshed")
    }
  }

  private mutating func noteChange() -> String? {
    let state = graph.state()
    if graph.manager.undoCount == before.count + 1 {
      before.append(now)
      after = []
    } else if graph.manager.undoCount != before.count {
      return "\(graph.manager.undoCount) groups instead of \(before.count)"
    } else if state != now {
      return "not registered: \(difference(now, state))"
    }
    now = state
    return nil
  }

  private mutating func undo() -> String? {
    guard graph.manager.canUndo == !before.isEmpty else { return "canUndo is wrong" }
    graph.context.undo()
    guard let expected = before.popLast() else { return compare(now, "undone without a group") }
    after.append(now)
    now = expected
    defer { now = graph.state() }
    return compare(expected, "undone")
  }

  private mutating func redo() -> String? {
    guard graph.manager.canRedo == !after.isEmpty else { return "canRedo is wrong" }
    graph.context.redo()
    guard let expected = after.popLast() else { return compare(now, "redone without a group") }
    before.append(now)
    now = expected
    defer { now = graph.state() }
    return compare(expected, "redone")
  }

  /// Saves, and compares what is saved with what the context has. A save may be refused, and changes nothing then.
  private mutating func save() throws -> String? {
    do {
      try graph.context.save()
    } catch let error as NSError where (1500..<1700).contains(error.code) {
      return compare(now, "refused to save")
    }
    now = graph.state()
    let saved = try graph.saved()
    for (x, values) in now.values {
      let stored = values.filter { $0.key != "mood" }
      if saved[x] != stored { return "saved \(x): \(difference(stored, saved[x] ?? [:]))" }
    }
    return saved.count == now.values.count ? nil : "saved are \(saved.keys), not \(now.values.keys)"
  }

  mutating func undoAndRedoAll() throws -> String? {
    for round in 0..<2 {
      while !before.isEmpty { if let problem = undo() { return "round \(round): \(problem)" } }
      if hasSaves, let problem = try save() { return "round \(round): \(problem)" }
      while !after.isEmpty { if let problem = redo() { return "round \(round): \(problem)" } }
      if hasSaves, let problem = try save() { return "round \(round): \(problem)" }
    }
    return nil
  }

  // MARK: Comparing

  private func compare(_ expected: UndoGraph.State, _ event: String) -> String? {
    var (state, expected) = (graph.state(), expected)
    if hasSaves {
      for key in [\UndoGraph.State.inserted, \.updated, \.deleted] {
        state[keyPath: key] = []
        expected[keyPath: key] = []
      }
    }
    return state == expected ? nil : "\(event): \(difference(expected, state))"
  }

  private func difference(_ expected: UndoGraph.State, _ state: UndoGraph.State) -> String {
    let objects = Set(expected.values.keys).union(state.values.keys).sorted().compactMap { x -> String? in
      let (wanted, found) = (expected.values[x], state.values[x])
      guard wanted != found else { return nil }
      guard let wanted, let found else { return "\(x) is \(found == nil ? "gone" : "there")" }
      return "\(x): \(difference(wanted, found))"
    }
    let sets = [("inserted", \UndoGraph.State.inserted), ("updated", \.updated), ("deleted", \.deleted)]
      .compactMap { name, key in
        let (wanted, found) = (expected[keyPath: key], state[keyPath: key])
        return wanted == found ? nil : "\(name): \(found.sorted()), not \(wanted.sorted())"
      }
    return (objects + sets).joined(separator: "; ")
  }

  private func difference(_ expected: [String: String], _ found: [String: String]) -> String {
    expected.filter { found[$0.key] != $0.value }
      .map { "\($0.key) is \(found[$0.key] ?? "missing"), not \($0.value)" }.sorted().joined(separator: ", ")
  }
}
