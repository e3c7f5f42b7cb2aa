/// A store to which another process may save.
package protocol RefreshableStore: NSIncrementalStore {
  /// Shows what other processes have saved last. Returns a number that rises with each save; nil if no other process
  /// can save to the store.
  func refresh() throws -> UInt64?
}
