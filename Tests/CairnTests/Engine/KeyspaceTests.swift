import Cairn
import Testing

@Suite struct KeyspaceTests {
  private let machine = Machine()

  @Test func areMadeByTheirFirstWrite() throws {
    var store = try machine.open()
    let one = try store.keyspace("one")
    let two = try store.keyspace("two", .unordered)
    #expect(store.keyspaces.isEmpty)
    #expect(try store.get("k", in: one) == nil)
    #expect(try store.read { try $0.rows(in: one) }.isEmpty)
    try store.put([1], at: 1, in: two)
    #expect(store.keyspaces == [two])
    #expect(store.statistics.keyspaces == 1)
    #expect(try store.keyspace("one") == one)
    store.close()

    store = try machine.open()
    #expect(store.keyspaces.map(\.name) == ["two"])
    #expect(store.keyspaces[0].order == .unordered)
    #expect(store.keyspaces[0].id == two.id)
  }

  @Test func idsAreNeverUsedAgain() throws {
    var seen: [UInt32: String] = [:]
    for round in 0..<20 {
      let store = try machine.open()
      for name in ["a\(round)", "b\(round)", "c\(round)"] {
        let keyspace = try store.keyspace(name)
        #expect(seen[keyspace.id] == nil)
        if name.hasPrefix("a") { continue }
        try store.put([1], at: 1, in: keyspace)
        seen[keyspace.id] = name
      }
      store.close()
    }
    let store = try machine.open()
    #expect(store.keyspaces.count == 40)
    for keyspace in store.keyspaces { #expect(seen[keyspace.id] == keyspace.name) }
  }

  @Test func aDefinitionIsLostWithItsCommitAndMayBeMadeAnew() throws {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("kept"))
    try store.put([1], at: 1, in: store.keyspace("lost"), .buffered)
    let crashed = machine.crash()
    let again = try crashed.open()
    #expect(again.keyspaces.map(\.name) == ["kept"])
    let lost = try again.keyspace("lost", .unordered)
    try again.put([2], at: 1, in: lost)
    #expect(again.keyspaces.map(\.id) == [1, lost.id])
    again.close()
    #expect(try crashed.open().get(1, in: crashed.open().keyspace("lost", .unordered)) == [2])
    #expect(try crashed.open().get(1, in: crashed.open().keyspace("kept")) == [1])
  }

  @Test func theOtherOrderIsRefused() throws {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("o"))
    try store.put([1], at: 1, in: store.keyspace("u", .unordered))
    #expect(failure { _ = try store.keyspace("o", .unordered) }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.keyspace("u") }?.code == .keyspaceMismatch)
    store.close()
    let again = try machine.open()
    #expect(failure { _ = try again.keyspace("o", .unordered) }?.code == .keyspaceMismatch)
    #expect(failure { _ = try again.keyspace("u", .ordered) }?.code == .keyspaceMismatch)
  }

  @Test func oneOfAnotherStoreIsRefused() throws {
    let store = try machine.open()
    let other = try machine.open(at: "/other")
    let foreign = try other.keyspace("rows")
    let own = try store.keyspace("rows")
    #expect(foreign != own)
    for change in [
      { try store.put([1], at: 1, in: foreign) }, { try store.delete(1, in: foreign) },
      { try store.write { try $0.check(1, in: foreign, .absent) } },
    ] as [() throws -> UInt64] {
      #expect(failure { _ = try change() }?.code == .keyspaceMismatch)
    }
    // That of an earlier opening, too.
    store.close()
    let again = try machine.open()
    #expect(failure { try again.put([1], at: 1, in: own) }?.code == .keyspaceMismatch)
  }

  @Test func readingWithOneOfAnotherStoreIsRefusedToo() throws {
    let store = try machine.open()
    let other = try machine.open(at: "/other")
    let foreign = try other.keyspace("rows")
    try other.put([1], at: 1, in: foreign)
    try store.put([2], at: 1, in: store.keyspace("rows"))
    #expect(failure { _ = try store.get(1, in: foreign) }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.row(1, in: foreign) }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.withValue(1, in: foreign) { _ in } }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.read { try $0.get(1, in: foreign) } }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.read { try $0.get(many: [1], in: foreign) } }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.read { try $0.count(in: foreign) } }?.code == .keyspaceMismatch)
    #expect(failure { _ = try store.read { try $0.rows(in: foreign) } }?.code == .keyspaceMismatch)
  }

  @Test func namesHaveOneTo65535Bytes() throws {
    let longest = String(repeating: "n", count: 65_535)
    var store = try machine.open()
    #expect(failure { _ = try store.keyspace("") }?.code == .malformed)
    #expect(failure { _ = try store.keyspace(longest + "n") }?.code == .malformed)
    try store.put([1], at: 1, in: store.keyspace(longest))
    try store.put([2], at: 1, in: store.keyspace("ä\0🪨"))
    for _ in 0..<3 {
      store.close()
      store = try machine.open()
      #expect(store.keyspaces.map(\.name) == [longest, "ä\0🪨"])
      try store.put([3], at: 2, in: store.keyspace("ä\0🪨"))
      #expect(try store.get(1, in: store.keyspace(longest)) == [1])
    }
  }

  @Test func manyInOneBatch() throws {
    let store = try machine.open()
    try store.write { batch in
      for number in 0..<500 {
        try batch.put("\(number)", at: .integer(Int64(number)), in: store.keyspace("k\(number)"))
      }
    }
    store.close()
    let again = try machine.open()
    #expect(again.keyspaces.count == 500)
    for number in 0..<500 {
      #expect(try again.texts(again.keyspace("k\(number)")) == ["\(number)=\(number)"])
    }
  }
}
