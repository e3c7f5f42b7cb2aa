import CairnSimulation
import Testing

@testable import Cairn

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct KeyspaceTests {
  private let machine = Machine()

  @Test("A store that has used up its keyspace identifiers refuses another keyspace, and is not reported as damaged.")
  func identifiersUsedUp() {
    var list = KeyspaceList()
    list.reserve(below: .highest.next)
    #expect(failure { try list.checkRoom(for: "rows") }?.code == .tooManyKeyspaces)
  }

  @Test("A keyspace is made by its first write.") func areMadeByTheirFirstWrite() throws {
    var store = try machine.open()
    let one = try store.keyspace("one")
    let two = try store.keyspace("two", order: .unordered)
    #expect(store.keyspaces.isEmpty)
    #expect(try store.get("k", in: one) == nil)
    #expect(try store.read { try $0.rows(in: one) }.isEmpty)
    #expect(one.isBlank && two.isBlank)
    try store.put([1], at: 1, in: two)
    #expect(one.isBlank && !two.isBlank)
    #expect(store.keyspaces == [two])
    #expect(store.statistics.keyspaces == 1)
    #expect(try store.keyspace("one") == one)
    try store.close()

    store = try machine.open()
    #expect(store.keyspaces.map(\.name) == ["two"])
    #expect(store.keyspaces[0].order == .unordered)
    #expect(store.keyspaces[0].id == two.id)
    #expect(!store.keyspaces[0].isBlank)
  }

  @Test("Identifiers of keyspaces are never used again.") func idsAreNeverUsedAgain() throws {
    var seen: [KeyspaceID: String] = [:]
    for round in 0..<20 {
      let store = try machine.open()
      for name in ["a\(round)", "b\(round)", "c\(round)"] {
        let keyspace = try store.keyspace(name)
        #expect(seen[keyspace.id] == nil)
        if name.hasPrefix("a") { continue }
        try store.put([1], at: 1, in: keyspace)
        seen[keyspace.id] = name
      }
      try store.close()
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
    let lost = try again.keyspace("lost", order: .unordered)
    try again.put([2], at: 1, in: lost)
    #expect(again.keyspaces.map(\.id) == [1, lost.id])
    try again.close()
    #expect(try crashed.open().get(1, in: crashed.open().keyspace("lost", order: .unordered)) == [2])
    #expect(try crashed.open().get(1, in: crashed.open().keyspace("kept")) == [1])
  }

  @Test func theOtherOrderIsRefused() throws {
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("o"))
    try store.put([1], at: 1, in: store.keyspace("u", order: .unordered))
    #expect(failure { _ = try store.keyspace("o", order: .unordered) }?.code == .orderMismatch)
    #expect(failure { _ = try store.keyspace("u") }?.code == .orderMismatch)
    try store.close()
    let again = try machine.open()
    #expect(failure { _ = try again.keyspace("o", order: .unordered) }?.code == .orderMismatch)
    #expect(failure { _ = try again.keyspace("u", order: .ordered) }?.code == .orderMismatch)
  }

  @Test("G22: Writing with a keyspace of another store is refused.") func oneOfAnotherStoreIsRefused() throws {
    let store = try machine.open()
    let other = try machine.open(at: "/other")
    let foreign = try other.keyspace("rows")
    let own = try store.keyspace("rows")
    #expect(foreign != own)
    for change in [
      { try store.put([1], at: 1, in: foreign) }, { try store.delete(1, in: foreign) },
      { try store.write { try $0.check(1, in: foreign, .absent) } },
    ] as [() throws -> CommitSequence] {
      #expect(failure { _ = try change() }?.code == .foreignKeyspace)
    }
    // A keyspace from an earlier opening of the same store is refused, too.
    try store.close()
    let again = try machine.open()
    #expect(failure { try again.put([1], at: 1, in: own) }?.code == .foreignKeyspace)
  }

  @Test("G22: Reading with a keyspace of another store is refused.")
  func readingWithOneOfAnotherStoreIsRefusedToo() throws {
    let store = try machine.open()
    let other = try machine.open(at: "/other")
    let foreign = try other.keyspace("rows")
    try other.put([1], at: 1, in: foreign)
    try store.put([2], at: 1, in: store.keyspace("rows"))
    #expect(failure { _ = try store.get(1, in: foreign) }?.code == .foreignKeyspace)
    #expect(failure { _ = try store.row(1, in: foreign) }?.code == .foreignKeyspace)
    #expect(failure { _ = try store.withValue(1, in: foreign) { _ in } }?.code == .foreignKeyspace)
    #expect(failure { _ = try store.read { try $0.get(1, in: foreign) } }?.code == .foreignKeyspace)
    #expect(failure { _ = try store.read { try $0.get(many: [1], in: foreign) } }?.code == .foreignKeyspace)
    #expect(failure { _ = try store.read { try $0.count(in: foreign) } }?.code == .foreignKeyspace)
    #expect(failure { _ = try store.read { try $0.rows(in: foreign) } }?.code == .foreignKeyspace)
  }

  @Test func namesHaveOneTo65535Bytes() throws {
    let longest = String(repeating: "n", count: 65_535)
    var store = try machine.open()
    #expect(failure { _ = try store.keyspace("") }?.code == .invalidArgument)
    #expect(failure { _ = try store.keyspace(longest + "n") }?.code == .invalidArgument)
    try store.put([1], at: 1, in: store.keyspace(longest))
    try store.put([2], at: 1, in: store.keyspace("ä\0🪨"))
    for _ in 0..<3 {
      try store.close()
      store = try machine.open()
      #expect(store.keyspaces.map(\.name) == [longest, "ä\0🪨"])
      try store.put([3], at: 2, in: store.keyspace("ä\0🪨"))
      #expect(try store.get(1, in: store.keyspace(longest)) == [1])
    }
  }

  @Test("One batch can make many keyspaces.") func manyInOneBatch() throws {
    let store = try machine.open()
    try store.write { batch in
      for number in 0..<500 {
        try batch.put("\(number)", at: .integer(Int64(number)), in: store.keyspace("k\(number)"))
      }
    }
    try store.close()
    let again = try machine.open()
    #expect(again.keyspaces.count == 500)
    for number in 0..<500 {
      #expect(try again.texts(again.keyspace("k\(number)")) == ["\(number)=\(number)"])
    }
  }

  @Test("G22: A keyspace keeps its store open; without it the store closes itself.")
  func keepsItsStore() throws {
    func makeKeyspace() throws -> Keyspace { try machine.open(at: "/kept").keyspace("rows") }
    var kept: Keyspace? = try makeKeyspace()
    try kept?.put("a", at: 1)
    #expect(try kept?.get(1, as: String.self) == "a")
    kept = nil
    let again = try makeKeyspace()
    #expect(try again.get(1, as: String.self) == "a")
  }

  #if os(Linux)
    @Test("G23: A keyspace that is not used takes less than 1 KiB of memory.") func unusedOnesAreSmall() async {
      await #expect(processExitsWith: .success) {
        let store = try Machine().open()
        try store.put([1], at: 1, in: store.keyspace("first"))
        let count = 50_000
        let before = residentBytes()
        for number in 0..<count {
          _ = try store.keyspace("a keyspace named \(number)", order: number % 2 == 0 ? .ordered : .unordered)
        }
        let each = (residentBytes() - before) / count
        precondition(each <= 1024, "\(each) bytes for each keyspace")
      }
    }
  #endif

  @Test("A store can have 100,000 keyspaces and refuses more.") func limit() throws {
    let store = try machine.open()
    var keyspaces: [Keyspace] = []
    for number in 0..<100_000 { keyspaces.append(try store.keyspace("\(number)")) }
    #expect(failure { _ = try store.keyspace("one more") }?.code == .tooManyKeyspaces)
    #expect(try store.keyspace("99999") == keyspaces[99_999])
    try store.put([1], at: 1, in: keyspaces[500])
    try store.drop(keyspaces[500])
    try store.put([1], at: 1, in: store.keyspace("one more"))
    #expect(failure { _ = try store.keyspace("and another") }?.code == .tooManyKeyspaces)
    try store.write { batch in
      for number in 0..<400 { try batch.put([2], at: 1, in: keyspaces[number * 200 + 1]) }
    }
    try store.close()
    let again = try machine.open()
    #expect(again.keyspaces.count == 401)
    #expect(try again.get(1, in: again.keyspace("79801")) == [2])
  }

  @Test("Keyspaces without rows have no nodes in a checkpoint.") func withoutRowsTheyHaveNoNodesInACheckpoint() throws {
    var store = try machine.open()
    for name in ["a", "b", "c"] {
      for order in [Keyspace.Order.ordered, .unordered] {
        try store.setRetention(.last(2), of: store.keyspace("\(name) \(order)", order: order))
      }
    }
    try store.put([1], at: 1, in: store.keyspace("b ordered"))
    try store.checkpoint()
    #expect(store.statistics.checkpointBytes < 40_000)
    for round in 0..<3 {
      try store.close()
      store = try machine.open()
      #expect(store.recovery.checkpoint != nil)
      #expect(store.keyspaces.count == 6)
      for keyspace in store.keyspaces {
        let hadRow = round > 0 || keyspace.name == "b ordered"
        #expect(try store.read { try $0.count(.all, in: keyspace) } == (hadRow ? 1 : 0))
        try store.put([UInt8(round)], at: 1, in: keyspace)
        #expect(try store.history(of: 1, in: keyspace).count == (hadRow ? 2 : 1))
      }
      try store.checkpoint()
    }
  }
}

#if os(Linux)
  /// The resident memory of the process in bytes.
  func residentBytes() -> Int {
    let file = unsafe fopen("/proc/self/statm", "r")!
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    unsafe fgets(&line, 256, file)
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return Int(text.split(separator: " ")[1])! * sysconf(Int32(_SC_PAGESIZE))
  }
#endif
