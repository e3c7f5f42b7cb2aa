import CairnSimulation
import Testing

@testable import Cairn

@Suite struct ExpectationTests {
  private let machine = Machine()

  @Test("G4: Each expectation accepts the rows it names and refuses all others.") func holdAndDoNotHold() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let first = try store.put([1], at: "there", in: rows)
    let cases: [(Key, Cairn.Expectation, Bool)] = [
      ("there", .anything, true), ("there", .present, true), ("there", .absent, false),
      ("there", .sequence(first), true), ("there", .sequence(first + 1), false), ("there", .sequence(0), false),
      ("gone", .anything, true), ("gone", .present, false), ("gone", .absent, true), ("gone", .sequence(first), false),
      ("gone", .sequence(0), false),
    ]
    for (key, expectation, holds) in cases {
      let error = failure { try store.write { try $0.check(key, in: rows, expectation) } }
      #expect((error == nil) == holds, "\(key) \(expectation)")
      let found = key == "there" ? first : nil
      #expect(
        holds
          || error?.conflicts == [
            StoreError.Conflict(keyspace: "rows", key: key, expected: expectation, found: found)
          ])
    }
  }

  @Test("G4: One error lists every failed expectation, and nothing is changed.")
  func oneErrorListsEveryConflictAndNothingIsChanged() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let others = try store.keyspace("others", order: .unordered)
    let sequence = try store.write { batch in
      for key in 0..<3 as Range<Int64> { try batch.put("old", at: .integer(key), in: rows) }
    }
    let before = machine.contents
    let error = try #require(
      failure {
        try store.write { batch in
          try batch.put("new", at: 0, in: rows, expecting: .absent)
          try batch.put("new", at: 1, in: rows, expecting: .sequence(sequence))
          try batch.delete(2, in: rows, expecting: .sequence(999))
          try batch.put("new", at: 3, in: rows)
          try batch.check("x", in: others, .present)
          try batch.put("new", at: ["t", 1], in: others, expecting: .absent)
        }
      })
    #expect(error.code == .conflict)
    #expect(
      error.conflicts == [
        StoreError.Conflict(keyspace: "rows", key: 0, expected: .absent, found: sequence),
        StoreError.Conflict(keyspace: "rows", key: 2, expected: .sequence(999), found: sequence),
        StoreError.Conflict(keyspace: "others", key: "x", expected: .present, found: nil),
      ])
    #expect(machine.contents == before)
    #expect(try store.texts(rows) == ["0=old", "1=old", "2=old"])
    #expect(store.lastSequence == sequence)
    #expect(store.keyspaces.map(\.name) == ["rows"])
    #expect(store.statistics.olderVersions == 0)
  }

  @Test("G4: Every expectation of a row counts, and refers to the row before the batch.")
  func everyExpectationOfARowCountsAndMeansTheRowBeforeTheBatch() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.write { batch in
      try batch.put("a", at: 1, in: rows, expecting: .absent)
      try batch.put("b", at: 1, in: rows, expecting: .absent)
      try batch.check(1, in: rows, .absent)
    }
    #expect(try store.texts(rows) == ["1=b"])
    let error = failure {
      try store.write { batch in
        try batch.put("c", at: 1, in: rows, expecting: .absent)
        try batch.put("d", at: 1, in: rows, expecting: .present)
        try batch.check(1, in: rows, .sequence(7))
      }
    }
    #expect(error?.conflicts.map(\.expected) == [.absent, .sequence(7)])
    // A check does not take back the change before it.
    try store.write { batch in
      try batch.put("e", at: 1, in: rows)
      try batch.check(1, in: rows, .present)
    }
    #expect(try store.texts(rows) == ["1=e"])
  }

  @Test("A batch that expects nothing since a snapshot is refused if anything has been committed since.")
  func nothingSinceASnapshot() throws {
    let store = try machine.open()
    let (rows, others) = (try store.keyspace("rows"), try store.keyspace("others"))
    try store.put([1], at: "k", in: rows)
    let snapshot = store.snapshot()
    func put(_ value: UInt8) throws {
      try store.write { batch in
        batch.expectNothing(since: snapshot)
        try batch.put([value], at: "k", in: rows)
      }
    }
    try put(2)
    let error = failure { try put(3) }
    #expect(error?.code == .conflict && error?.conflicts == [])
    #expect(try store.get("k", in: rows) == [2])
    try store.put([1], at: "other", in: others)
    #expect(failure { try put(4) }?.code == .conflict)
    // The buffer of the batch is used again, without the expectation.
    try store.put([5], at: "k", in: rows)
  }

  @Test("A deleted row that a snapshot still sees is absent for expectations.")
  func deletedRowsAreAbsentAlsoForSnapshotsSake() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    let first = try store.put([1], at: "k", in: rows)
    let snapshot = store.snapshot()
    try store.delete("k", in: rows, expecting: .sequence(first))
    #expect(failure { try store.delete("k", in: rows, expecting: .present) }?.code == .conflict)
    #expect(
      failure { try store.delete("k", in: rows, expecting: .sequence(first)) }?.conflicts.first?.found == .some(nil))
    #expect(try snapshot.get("k", in: rows) == [1])
    let second = try store.put([2], at: "k", in: rows, expecting: .absent)
    #expect(
      failure { try store.put([3], at: "k", in: rows, expecting: .sequence(first)) }?.conflicts.first?.found == second)
    snapshot.close()
    try store.put([3], at: "k", in: rows, expecting: .sequence(second))
  }

  @Test func aSequenceHoldsAfterReopening() throws {
    let store = try machine.open()
    let sequence = try store.put([1], at: "k", in: store.keyspace("rows"))
    try store.close()
    let again = try machine.open()
    let rows = try again.keyspace("rows")
    let next = try again.put([2], at: "k", in: rows, expecting: .sequence(sequence))
    #expect(
      failure { try again.put([2], at: "k", in: rows, expecting: .sequence(sequence)) }?.conflicts.first?.found == next)
  }
}
