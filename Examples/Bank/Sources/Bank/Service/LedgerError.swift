/// Why the ledger refuses a request.
enum LedgerError: Error {
  case noSuchAccount, noSuchTransfer, senseless, insufficientFunds
  /// Others were quicker at every attempt.
  case contended
}
