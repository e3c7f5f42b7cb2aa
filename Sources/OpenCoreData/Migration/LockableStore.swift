import Foundation

/// A store class that can keep others from using a store.
package protocol LockableStore: NSIncrementalStore {
  /// The number of the last save that the store has seen; nil if the store is not open.
  var revision: UInt64? { get }

  /// Whether somebody has the store at `url` open for writing.
  static func isInUse(at url: URL) -> Bool

  /// Runs `body`, which replaces the store at `url`, while nobody uses that store, this process included.
  ///
  /// - Throws: an error if the store is in use, or if its last save has not this number.
  static func whileUnused(at url: URL, since revision: UInt64, _ body: () throws -> Void) throws
}
