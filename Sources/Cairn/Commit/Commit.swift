/// What one commit changes. The committer calls these functions in their order, one commit after the other.
protocol Commit {
  /// How often the committer tries to take its lock before it lets the thread sleep.
  static var lockAttempts: Int { get }

  /// Checks the change, and prepares all that may fail, before anything is written.
  /// - Returns: what the frame takes; nil if there is nothing to commit.
  func prepare(_ writer: inout Writer) throws(StoreError) -> FrameNeeds?
  /// Adds the records to the frame.
  func write(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError)
  /// Enters into the index what is in the log. Readers must not see the change before it is published.
  func apply(_ sequence: CommitSequence, _ writer: inout Writer) throws(StoreError)
  /// Cleans up after the change has been published.
  func finish(_ sequence: CommitSequence, _ writer: inout Writer)
}

extension Commit {
  static var lockAttempts: Int { Committer.patientAttempts }
}
