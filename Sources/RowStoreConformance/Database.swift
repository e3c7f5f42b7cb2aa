public import IncrementalStore

extension RowStoreConformance {
  /// A database for one check.
  public struct Database: Sendable {
    let open: @Sendable () throws -> any RowStore
    let remove: @Sendable () throws -> Void

    /// A database, empty at first.
    ///
    /// - Parameters:
    ///   - open: Opens the database, the same one in each call, as another coordinator or process would. The check
    ///     closes what it has opened. If only one store can have the database open, it is not called again before that
    ///     store is closed.
    ///   - remove: Removes the database after the check, when all its stores are closed.
    public init(
      open: @escaping @Sendable () throws -> any RowStore, remove: @escaping @Sendable () throws -> Void = {}
    ) {
      self.open = open
      self.remove = remove
    }
  }
}
