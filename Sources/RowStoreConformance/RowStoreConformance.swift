/// Checks that a row store keeps the contract of `RowStore`, with any test framework.
///
/// Whoever keeps objects in another database runs all checks on their row store, each as a test of its own:
///
/// ```swift
/// let conformance = RowStoreConformance {
///   let url = URL.temporaryDirectory.appending(path: UUID().uuidString)
///   return RowStoreConformance.Database {
///     try MyRowStore(at: url)
///   } remove: {
///     try FileManager.default.removeItem(at: url)
///   }
/// }
///
/// @Test(arguments: conformance.checks) func keepsTheContract(_ check: RowStoreConformance.Check) throws {
///   try check.run()
/// }
/// ```
///
/// Each check makes a database of its own, so several may run at once. A check has at most ten stores open. It uses
/// tables with low numbers, table 0 and the four tables with the highest numbers, as incremental stores do. The first
/// save of each database puts row 1 of table 0, which every incremental store has. Of the other rows of table 0, a
/// check expects only those that it has put itself, so a row store may keep rows of its own there under references from
/// 2 to 999.
///
/// `RowStore` names no limits. The checks demand rows of 1 MB, entries of 10,000 bytes, and strings of 1,000 bytes as
/// references.
///
/// ``saveUntilKilled(_:acknowledge:)`` and ``checkAfterKill(_:acknowledged:processes:)`` check what a killed process
/// leaves.
public struct RowStoreConformance: Sendable {
  private let isPersistent: Bool
  private let allowsSeveralStores: Bool
  private let seed: UInt64
  private let makeDatabase: @Sendable () throws -> Database

  /// Checks of a kind of row store.
  ///
  /// - Parameters:
  ///   - isPersistent: Whether a database keeps its contents while no store has it open. If not, what depends on that
  ///     is not checked.
  ///   - allowsSeveralStores: Whether several stores of this process may have a database open at once. If not, the
  ///     threads of a check share one store.
  ///   - seed: Determines all random choices, but not the order in which threads run. To repeat a failure, pass the
  ///     seed that it names.
  ///   - makeDatabase: Makes an empty database, different from all others; is called by each check, on any thread.
  public init(
    isPersistent: Bool = true, allowsSeveralStores: Bool = true, seed: UInt64 = .random(in: .min ... .max),
    makeDatabase: @escaping @Sendable () throws -> Database
  ) {
    self.isPersistent = isPersistent
    self.allowsSeveralStores = allowsSeveralStores
    self.seed = seed
    self.makeDatabase = makeDatabase
  }

  /// The checks that apply to the store, the basic ones first. If several fail, look at the first.
  public var checks: [Check] {
    Promise.all.filter { promise in
      (isPersistent || !promise.needsPersistence) && (allowsSeveralStores || !promise.needsSeveralStores)
    }.map { promise in
      Check(promise) { [self] in
        try Session(makeDatabase(), isPersistent: isPersistent, allowsSeveralStores: allowsSeveralStores, seed: seed)
      }
    }
  }
}
