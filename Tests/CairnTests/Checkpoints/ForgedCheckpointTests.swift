import CairnSimulation
import Testing

@testable import Cairn
@testable import CairnInspection

/// Checkpoints whose trees are wrong although all their checksums are right.
@Suite struct ForgedCheckpointTests {
  private static let path = "\(Machine.path)/0000000001.checkpoint"
  private static let count: Int64 = 1000

  enum Forgery: CaseIterable {
    case sharedLeaf, lostLeaf, unorderedLeaf, unorderedSeparators
    case exchangedLeaves, exchangedRows, repeatedRow
  }

  /// A store with a checkpoint, changed with `forge`.
  private func machine(_ forge: (Inner, (Int) -> Leaf) -> Void) throws -> Machine {
    let machine = Machine()
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for row in 0..<Self.count { try store.put([1], at: .integer(row), in: rows, .buffered) }
    try store.checkpoint()
    try store.close()
    let copy = try machine.kill()
    try copy.rewrite(Self.path) { bytes in
      unsafe bytes.withUnsafeMutableBytes { raw in
        guard let base = raw.baseAddress, let tables = try? unsafe CheckpointTables(UnsafeRawBufferPointer(raw)) else {
          return
        }
        let root = unsafe Inner(base + Int(tables.keyspaces[0].root) * 64)
        forge(root) { unsafe Leaf(base + Int(root.child($0)) * 64) }
      }
      Mending.checkpoint(&bytes)
    }
    return copy
  }

  private func forge(_ forgery: Forgery, _ root: Inner, _ leaf: (Int) -> Leaf) {
    let (first, second) = (leaf(0), leaf(1))
    let last = first.loadCounts().sorted - 1
    switch forgery {
    case .sharedLeaf: root.setChild(1, root.child(0))
    case .lostLeaf: first.storeCounts(sorted: last, appended: 0)
    case .unorderedLeaf:
      let entry = first[0]
      first.write(first[1], at: 0)
      first.write(entry, at: 1)
    case .unorderedSeparators:
      unsafe (root.base + Inner.headerSize).storeBytes(of: UInt64.max, as: UInt64.self)
    case .exchangedLeaves:
      let child = root.child(0)
      root.setChild(0, root.child(1))
      root.setChild(1, child)
    case .exchangedRows:
      let entry = first[last]
      first.write(second[0], at: last)
      second.write(entry, at: 0)
    case .repeatedRow: first.write(first[0], at: 1)
    }
  }

  @Test(
    "D19: A checkpoint is ignored if a node is reached twice, heads or separators do not ascend, or entries are missing.",
    arguments: [Forgery.sharedLeaf, .lostLeaf, .unorderedLeaf, .unorderedSeparators])
  func ignored(_ forgery: Forgery) throws {
    let store = try machine { forge(forgery, $0, $1) }.open()
    #expect(store.recovery.checkpoint == nil && store.recovery.ignoredCheckpoints.count == 1)
    let rows = try store.keyspace("rows")
    for isReversed in [false, true] {
      var found: [Key] = []
      try store.read { snapshot in
        try snapshot.scan(in: rows, reverse: isReversed) { key, _, _ in
          found.append(try Key(encoded: key))
          return .next
        }
      }
      let expected = (0..<Self.count).map { Key.integer($0) }
      #expect(found == (isReversed ? expected.reversed() : expected))
    }
  }

  @Test(
    "G10: Verifying finds rows that a checkpoint has in the wrong place, twice, or not at all.",
    arguments: [Forgery.exchangedLeaves, .exchangedRows, .repeatedRow])
  func found(_ forgery: Forgery) throws {
    let machine = try machine { forge(forgery, $0, $1) }
    #expect(try machine.kill().open().recovery.checkpoint != nil)
    let damage = try Verifier(at: Machine.path, files: machine.files).run().damage
    #expect(damage.map(\.kind) == [.checkpoint] && damage.map(\.file) == ["0000000001.checkpoint"])
  }

  @Test("Verifying finds nothing in a checkpoint that is as it was written.") func sound() throws {
    let machine = try machine { _, _ in }
    #expect(try machine.kill().open().recovery.checkpoint != nil)
    #expect(try Verifier(at: Machine.path, files: machine.files).run().findings.isEmpty)
  }
}
