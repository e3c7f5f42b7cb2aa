extension RowStoreConformance {
  /// What a check has found wrong with a store.
  public struct Failure: Error, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    /// What was expected and what was found, as a sentence.
    public let finding: String
    /// The seed of the random choices; nil if the check has made none.
    public let seed: UInt64?
    /// The error that the store has thrown; nil if it has thrown none.
    public let underlyingError: (any Error)?

    init(check: String, _ error: any Error, seed: UInt64?) {
      self.check = check
      self.seed = seed
      if let finding = error as? Finding {
        self.finding = finding.sentence
        underlyingError = nil
      } else {
        finding = "The store should throw no error here, but threw: \(error)."
        underlyingError = error
      }
    }

    /// The check, what it has found, and the seed.
    public var description: String {
      "\(check) \(finding)" + (seed.map { " To repeat the random choices, use the seed \($0)." } ?? "")
    }
  }
}
