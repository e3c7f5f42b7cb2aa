extension Promise {
  /// All parts of the contract, those on which others depend first.
  static let all = rows + entries + bulkReads
}
