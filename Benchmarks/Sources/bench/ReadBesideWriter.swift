import Synchronization

/// The work of one of the two threads.
struct Part: Sendable {
  var operations = 0
  var nanoseconds: UInt64 = 0
  var reading = Reading()
}

/// One thread looks up the rows of `gets`, while another puts the rows of `puts` over and over, one per commit. Both
/// end when the reader does: after its last row, or after ten seconds, since some engines take minutes for what others
/// do in one.
func readBesideWriter(
  _ sessions: [any Session], gets: AccessPattern, puts: AccessPattern
) throws -> (reader: Part, writer: Part) {
  let isOver = Flag()
  let (parts, _) = try onThreads(2) { index in
    if index == 1 { return try write(puts, through: sessions[1], until: isOver) }
    defer { isOver.raise() }
    return try read(gets, through: sessions[0], for: 10_000_000_000)
  }
  return (parts[0], parts[1])
}

private final class Flag: Sendable {
  private let raised = Atomic(false)

  var isRaised: Bool { raised.load(ordering: .relaxed) }

  func raise() {
    raised.store(true, ordering: .relaxed)
  }
}

/// The number of lookups between two checks of the clock: some hundred microseconds.
private let getsAtATime = 1_024

private func read(_ pattern: AccessPattern, through session: any Session, for limit: UInt64) throws -> Part {
  var part = Part()
  let start = now()
  while part.operations < pattern.steps.count && now() - start < limit {
    let end = min(part.operations + getsAtATime, pattern.steps.count)
    part.reading.merge(try session.get(pattern.limited(to: part.operations..<end), .latest))
    part.operations = end
  }
  part.nanoseconds = now() - start
  return part
}

/// The number of puts between two checks of the flag.
private let putsAtATime = 64

private func write(_ pattern: AccessPattern, through session: any Session, until isOver: Flag) throws -> Part {
  var part = Part()
  var next = 0
  let start = now()
  while !isOver.isRaised {
    let end = min(next + putsAtATime, pattern.steps.count)
    try session.put(pattern.limited(to: next..<end), perCommit: 1)
    part.operations += end - next
    next = end == pattern.steps.count ? 0 : end
  }
  part.nanoseconds = now() - start
  return part
}
