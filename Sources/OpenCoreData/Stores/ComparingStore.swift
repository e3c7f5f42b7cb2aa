/// A store that may compare the rows that it knows with those that are stored only when it saves, since reading them
/// before takes long.
package protocol ComparingStore: NSIncrementalStore {
  /// Whether the next save compares all rows that it changes. Then a context that permits no old values does not have
  /// them read once more before.
  var comparesRows: Bool { get }

  /// Reads the rows of objects as they are stored now, together, into the row cache.
  ///
  /// - Returns: False, and nothing is read, if it takes no less time to read one after the other.
  func readRows(of objectIDs: [NSManagedObjectID]) throws -> Bool
}
