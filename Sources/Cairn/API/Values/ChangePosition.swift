/// A place in the sequence of a store's changes: behind one commit. It remains valid when the store is closed and
/// opened again, and can be kept as a text.
///
/// A position belongs to one store, and to its history: after the store has been taken back to an earlier commit, or in
/// a store that was restored from a backup, it is refused with `replaced`. A copy of the files cannot be told apart
/// from the store.
public struct ChangePosition: Hashable, Sendable {
  package let store: UInt128
  /// How often the store had been taken back to an earlier commit.
  package let timeline: UInt64
  /// The commit behind which the position is.
  public let sequence: CommitSequence

  package init(store: UInt128, timeline: UInt64, sequence: CommitSequence) {
    self.store = store
    self.timeline = timeline
    self.sequence = sequence
  }
}

extension ChangePosition: LosslessStringConvertible {
  /// The identity of the store in hexadecimal digits, how often the store had been taken back, and the sequence:
  /// `00010203040506070809…-0-1000000042`.
  public var description: String {
    let store = String(store, radix: 16)
    return "\(String(repeating: "0", count: 32 - store.count) + store)-\(timeline)-\(sequence)"
  }

  /// The position with a ``description``; nil for any other text.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 32, let store = UInt128(parts[0], radix: 16),
      let timeline = UInt64(parts[1]), let sequence = UInt64(parts[2])
    else { return nil }
    self.init(store: store, timeline: timeline, sequence: CommitSequence(sequence))
    guard self.description == description else { return nil }
  }
}

extension ChangePosition: Codable {
  /// Decodes a ``description``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let position = ChangePosition(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a position of changes")
    }
    self = position
  }

  /// Encodes the ``description``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
