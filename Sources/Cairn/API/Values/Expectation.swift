/// What a change expects of its row as it was before the batch.
public enum Expectation: Hashable, Sendable, CustomStringConvertible {
  /// Nothing in particular.
  case anything
  /// That the row does not exist.
  case absent
  /// That the row exists.
  case present
  /// That the row exists and was last written by this commit.
  case sequence(CommitSequence)

  /// In words.
  public var description: String {
    switch self {
    case .anything: "anything"
    case .absent: "nothing"
    case .present: "a row"
    case .sequence(let sequence): "sequence \(sequence)"
    }
  }

  /// Whether a row that was last written by a commit, or no row, is as expected.
  @inline(__always)
  package func holds(_ sequence: CommitSequence?) -> Bool {
    switch self {
    case .anything: true
    case .absent: sequence == nil
    case .present: sequence != nil
    case .sequence(let expected): sequence == expected
    }
  }
}
