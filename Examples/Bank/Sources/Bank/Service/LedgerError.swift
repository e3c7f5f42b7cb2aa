/// Why the ledger refuses a request.
enum LedgerError: Error {
  case noSuchAccount, noSuchTransfer, senseless, insufficientFunds
  /// Other requests changed the accounts during every attempt.
  case contended
}
