import IncrementalStore
import RowStoreConformance
import Testing

/// Each check finds what it is there to find.
@Suite struct FaultTests {
  @Test("A check finds the fault of a store.", arguments: Fault.all)
  func faults(_ fault: Fault) throws {
    let conformance = RowStoreConformance {
      let store = MemoryRowStore(referenceKind: fault.kind)
      return RowStoreConformance.Database {
        FaultyStore(fault, fault.losesContents ? MemoryRowStore(referenceKind: fault.kind) : store)
      }
    }
    let check = try #require(conformance.checks.first { $0.name.contains(fault.check) })
    #expect(throws: RowStoreConformance.Failure.self) { try check.run() }
  }

  @Test("There is a fault for each check.")
  func checks() {
    for check in onCairn.checks {
      #expect(Fault.all.contains { check.name.contains($0.check) }, "\(check)")
    }
  }

  @Test("A failure of a random check names the seed, which repeats it.")
  func seed() throws {
    let fault = try #require(Fault.all.first { $0.check == "Random calls" })
    func failure(_ seed: UInt64?) throws -> RowStoreConformance.Failure {
      let make = { @Sendable in
        let store = MemoryRowStore()
        return RowStoreConformance.Database { FaultyStore(fault, store) }
      }
      let conformance =
        seed.map { RowStoreConformance(seed: $0, makeDatabase: make) } ?? RowStoreConformance(makeDatabase: make)
      let check = try #require(conformance.checks.last)
      return try #require(throws: RowStoreConformance.Failure.self) { try check.run() }
    }
    let first = try failure(nil)
    let seed = try #require(first.seed)
    #expect(try failure(seed).finding == first.finding)
    #expect(first.description.contains("\(seed)"))
  }

  @Test("A failure says what was expected and what was found.")
  func sentence() throws {
    let fault = try #require(Fault.all.first { $0.name == "A touch has no effect." })
    let conformance = RowStoreConformance {
      let store = MemoryRowStore()
      return RowStoreConformance.Database { FaultyStore(fault, store) }
    }
    let failure = try #require(throws: RowStoreConformance.Failure.self) { try conformance.checks[0].run() }
    #expect(
      failure.description == """
        Rows that are put, touched and deleted have the right version and revision. The rows of table 1 should have \
        [the number 3: 03, version 2, revision 3] at place 3, but have [the number 3: 03, version 1, revision 2] there \
        (4 expected, 4 found).
        """)
  }

  @Test("A failure tells the error that the store has thrown.")
  func errors() throws {
    struct Full: Error {}
    let conformance = RowStoreConformance { RowStoreConformance.Database { throw Full() } }
    let failure = try #require(throws: RowStoreConformance.Failure.self) { try conformance.checks[0].run() }
    #expect(failure.underlyingError is Full)
    #expect(failure.check == conformance.checks[0].name)
  }
}
