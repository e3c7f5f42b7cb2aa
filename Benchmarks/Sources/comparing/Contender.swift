/// A library that does the tasks of a comparison with its store.
package protocol Contender: AnyObject {
  associatedtype Store: KeptStore

  var store: Store { get }

  func open() throws
}

extension Contender {
  package func close() throws { try store.close() }

  package func compact() throws { try store.compact() }

  /// Closes the store and returns the bytes that its files use.
  package func closedBytes() throws -> Int {
    try close()
    return store.diskBytes
  }
}
