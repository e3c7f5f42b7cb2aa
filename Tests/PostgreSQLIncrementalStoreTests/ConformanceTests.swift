#if PostgreSQL
  import CoreData
  import PostgreSQLIncrementalStore
  import RowStoreConformance
  import Testing

  @Suite("PostgreSQL as a row store")
  struct ConformanceTests {
    @Test("It keeps the contract of row stores.", arguments: conformance("integers").checks)
    func integers(_ check: RowStoreConformance.Check) throws { try check.run() }

    @Test("With UUIDs as references it keeps the contract, too.", arguments: conformance("uuids").checks)
    func uuids(_ check: RowStoreConformance.Check) throws { try check.run() }

    private static func conformance(_ references: String) -> RowStoreConformance {
      RowStoreConformance {
        let namespace = Namespace()
        return RowStoreConformance.Database {
          try namespace.rowStore([PostgreSQLReferencesOption: references])
        } remove: {
          namespace.remove()
        }
      }
    }
  }
#endif
