/// Something that an operator may want to know, from ``Store/events``.
public enum StoreEvent: Sendable, Hashable, CustomStringConvertible {
  /// A commit has taken longer than 100 milliseconds, its sync and its waiting included.
  case slowCommit(Duration)
  /// A writer has waited for compaction because the log was too long or the disk full.
  case stall(Duration)
  /// A commit has found no space on the disk. It waits for compaction to free some, or fails.
  case spaceLow
  /// A reader of changes is too far behind: the log keeps nothing for the reader of this name any more.
  case changeReaderTooFarBehind(String)
  /// A write or a sync has failed: the store accepts no more writes until it is opened again.
  case poisoned(String)

  /// In words.
  public var description: String {
    switch self {
    case .slowCommit(let time): "a commit has taken \(time)"
    case .stall(let time): "a writer has waited \(time) for compaction"
    case .spaceLow: "there is no space for a commit"
    case .changeReaderTooFarBehind(let name): "the reader of changes \(name) is too far behind"
    case .poisoned(let message): "writing has ended: \(message)"
    }
  }
}
