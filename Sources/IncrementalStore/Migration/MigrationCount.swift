import Synchronization

/// How many migrations this process has made, so that a store that was open before knows when to look whether one of
/// them was its own: looking reads a row, which is too much for each fault. Several threads may ask at once.
final class MigrationCount: Sendable {
  private static let begun = Atomic<UInt64>(0)
  private static let ended = Atomic<UInt64>(0)

  private let seen = Atomic(ended.load(ordering: .sequentiallyConsistent))

  static func counting<Result>(_ migration: () throws -> Result) rethrows -> Result {
    begun.add(1, ordering: .sequentiallyConsistent)
    defer { ended.add(1, ordering: .sequentiallyConsistent) }
    return try migration()
  }

  /// Calls `check` if a migration may have taken place since the last check that threw nothing. Called after the
  /// snapshot was made that is checked: a migration that this snapshot shows has begun by then.
  func checkIfChanged(_ check: () throws -> Void) rethrows {
    let ended = Self.ended.load(ordering: .sequentiallyConsistent)
    let isMigrating = Self.begun.load(ordering: .sequentiallyConsistent) != ended
    guard isMigrating || ended != seen.load(ordering: .sequentiallyConsistent) else { return }
    try check()
    if !isMigrating { seen.store(ended, ordering: .sequentiallyConsistent) }
  }
}
