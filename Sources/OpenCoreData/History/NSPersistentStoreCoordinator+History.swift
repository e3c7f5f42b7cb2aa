import Foundation

extension NSPersistentStoreCoordinator {
  /// The place after the last transaction of each store that records its history; nil if none of the stores does.
  ///
  /// - Parameter stores: the stores, which must be the coordinator's; nil for all.
  public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    withStoreLock {
      let named = stores?.compactMap { $0 as? NSPersistentStore }
      var positions: [String: NSPersistentHistoryToken.Position] = [:]
      for case let store as any HistoryStore in self.stores where named?.contains(store) ?? true {
        positions[store.identifier] = try? store.currentPosition()
      }
      return positions.isEmpty ? nil : NSPersistentHistoryToken(positions)
    }
  }

  /// Answers a request for history.
  func history(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
    try withStoreLock {
      let affected = try affectedStores(of: request).compactMap { $0 as? any HistoryStore }
      guard !affected.isEmpty else {
        throw CoreDataError.make(
          NSPersistentStoreUnsupportedRequestTypeError, "None of the stores can record the history of its saves.")
      }
      let bounds = try affected.map { try bound(of: request, $0, among: affected) }
      var query = try HistoryQuery(request)
      for (store, bound) in zip(affected, bounds) where request.deletes { try query.delete(before: bound, in: store) }
      for (store, bound) in zip(affected, bounds) where !request.deletes { try query.fetch(after: bound, in: store) }
      return query.result
    }
  }

  /// The place of a request in the history of a store.
  ///
  /// - Throws: ``NSPersistentStoreOperationError`` if the request has a token of none of the stores;
  ///   ``NSPersistentStoreSaveError`` if it would change a read-only store.
  private func bound(
    of request: NSPersistentHistoryChangeRequest, _ store: any HistoryStore, among stores: [any HistoryStore]
  ) throws -> HistoryBound {
    if request.deletes { try requireWritable(store) }
    switch request.bound {
    case .date(let date): return .date(date)
    case .token(nil): return .beginning
    case .token(let token?):
      guard token.positions.isEmpty || stores.contains(where: { token.position(in: $0) != nil }) else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError,
          "The history token belongs to none of the stores, but to \(token.positions.keys.sorted().joined(separator: ", "))."
        )
      }
      return token.position(in: store).map { .position($0) } ?? .beginning
    }
  }
}

extension NSPersistentHistoryToken {
  /// A token with the transaction that a store has just saved, if it has recorded one, and the positions of another.
  static func adding(
    lastTransactionOf store: NSPersistentStore, to token: NSPersistentHistoryToken?
  ) -> NSPersistentHistoryToken? {
    guard let position = (store as? any HistoryStore)?.lastTransaction else { return token }
    return NSPersistentHistoryToken((token?.positions ?? [:]).merging([store.identifier: position]) { $1 })
  }
}
