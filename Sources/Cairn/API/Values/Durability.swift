/// How durable a commit is when the call that made it returns.
public enum Durability: Sendable, Hashable {
  /// The commit survives a loss of power. Concurrent commits share one sync.
  case durable
  /// The commit survives the end of the process. A loss of power may take it together with every commit after it, never
  /// a commit before it alone.
  case buffered
}
