/// A reader of changes for whom the log keeps deletions, as in ``Store/changeReaders``.
public struct ChangeReader: Hashable, Sendable {
  /// The name that it was added with.
  public let name: String
  /// Where it reads on: all changes before were acknowledged.
  public let position: ChangePosition
  /// Whether the log still keeps deletions for it; false once it was too far behind.
  public let isHeld: Bool
  /// Bytes of the deletions in the segments that it has not read to their ends. They stay in the log for it.
  public let heldBytes: Int
  /// Too far behind is a reader with more ``heldBytes``.
  public let mostBytes: Int
  /// Too far behind is a reader that has something to read and was not heard of for this long.
  public let longestTime: Duration
}
