/// Something that a commit has changed.
public enum RowChange: Hashable, Sendable {
  /// A row was put into the keyspace with a name.
  case put(Row, in: String)
  /// The row with a key was deleted from the keyspace with a name.
  case deleted(Key, in: String)
  /// The keyspace with a name was dropped, with all its rows.
  case dropped(keyspace: String)
}

/// What one commit has changed and later commits have not changed again; or a part of that, if it is much.
public struct CommittedChanges: Hashable, Sendable {
  /// The commit.
  public let sequence: CommitSequence
  /// The changes: at most 1,000, and at most one more than have 1 MiB of keys and values.
  public let changes: [RowChange]
  /// Whether these are all changes of the commit, or the last of them. If not, the next ``CommittedChanges`` continues
  /// the commit.
  public let isComplete: Bool
  /// Where to read on when these changes have been dealt with: behind the commit if they are complete, else before it.
  public let position: ChangePosition
}
