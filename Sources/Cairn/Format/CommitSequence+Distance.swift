extension CommitSequence: DistinctNumber {
  /// Above every sequence.
  package static let max = CommitSequence(rawValue: .max)

  /// How much higher it is than another sequence, which must not be higher.
  @inline(__always)
  package static func - (left: CommitSequence, right: CommitSequence) -> UInt64 { left.rawValue &- right.rawValue }

  /// The sequence that is higher by a number.
  @inline(__always)
  package static func + (sequence: CommitSequence, distance: UInt64) -> CommitSequence {
    CommitSequence(sequence.rawValue + distance)
  }
}
