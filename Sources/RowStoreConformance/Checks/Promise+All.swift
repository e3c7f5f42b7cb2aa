extension Promise {
  /// All parts of the contract, those on which others depend first.
  static let all =
    rows + entries + bulkReads + saves + snapshots + revisions + savers + references + persistence + [randomProgram]
}
