import ArgumentParser
import Cairn
import CairnInspection

/// The commits to show: those from a sequence or a time on.
enum Since {
  case sequence(CommitSequence)
  /// Commits whose own time is this or later. They may be anywhere in the log, because clocks are also set back.
  case time(Timestamp)

  static let help = """
    --since takes the sequence of a commit, a duration before now such as 90s, 30m, 1h or 2d, or a date in UTC such as \
    2023-11-14, 2023-11-14T22:13:20Z or 2023-11-14 22:13:20.125 UTC. A commit is chosen by the time at which it was \
    made, wherever it is in the log.
    """

  private static let seconds: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

  /// Parses an argument.
  static let parse: @Sendable (String) throws -> Since = { text in
    if let sequence = UInt64(grouped: text) { return .sequence(CommitSequence(sequence)) }
    if let unit = text.last.flatMap({ seconds[$0] }), let number = UInt64(grouped: text.dropLast()) {
      let (length, overflow) = number.multipliedReportingOverflow(by: unit * 1_000_000_000)
      let now = systemClock()
      return .time(Timestamp(nanoseconds: overflow || length > now ? 0 : now - length))
    }
    guard let time = Timestamp(text) else {
      throw ValidationError(
        "\(text) is neither the sequence of a commit, nor a duration such as 1h, nor a date such as 2023-11-14.")
    }
    return .time(time)
  }

  /// Nil if the time of a commit decides and is unknown.
  func includes(sequence: CommitSequence, time: UInt64?) -> Bool? {
    switch self {
    case .sequence(let first): sequence >= first
    case .time(let first): time.map { $0 >= first.nanoseconds }
    }
  }
}
