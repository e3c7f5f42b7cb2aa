import CairnIncrementalStore
import IncrementalStore
import RowStoreConformance
import Testing

/// The project's own row stores keep the contract.
@Suite struct StoreTests {
  @Test("A store in memory with numbers as references keeps the contract.", arguments: memory(.integer).checks)
  func numbers(_ check: RowStoreConformance.Check) throws { try check.run() }

  @Test("A store in memory with strings as references keeps the contract.", arguments: memory(.string).checks)
  func strings(_ check: RowStoreConformance.Check) throws { try check.run() }

  @Test("A store in memory with UUIDs as references keeps the contract.", arguments: memory(.uuid).checks)
  func uuids(_ check: RowStoreConformance.Check) throws { try check.run() }

  @Test("The store on Cairn keeps the contract.", arguments: onCairn.checks)
  func cairn(_ check: RowStoreConformance.Check) throws { try check.run() }
}
