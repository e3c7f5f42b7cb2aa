import Foundation

/// A store that can record its saves and batch requests as transactions.
package protocol HistoryStore: NSIncrementalStore {
  typealias Position = NSPersistentHistoryToken.Position

  /// The transaction of the last save; nil if nothing was recorded.
  var lastTransaction: Position? { get }

  /// The position of the last transaction, or of the beginning if there is none; nil if the store does not record its
  /// saves.
  func currentPosition() throws -> Position?

  /// Calls `body` with transactions in their order until it returns false.
  ///
  /// - Throws: ``NSPersistentHistoryTokenExpiredError`` if a position has expired.
  func forEachTransaction(
    after bound: HistoryBound, withChanges: Bool, _ body: (NSPersistentHistoryTransaction) throws -> Bool
  ) throws

  /// Deletes transactions before that of a position, or before a date, that `isDeleted` selects, a number of them at a
  /// time. Returns how many were deleted.
  func deleteTransactions(
    before bound: HistoryBound, where isDeleted: (NSPersistentHistoryTransaction) throws -> Bool
  ) throws -> Int
}

/// Where a request for the history of one store begins or ends.
package enum HistoryBound {
  case beginning
  case position(NSPersistentHistoryToken.Position)
  case date(Date)
}
