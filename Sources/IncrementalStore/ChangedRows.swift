import CoreData

/// Remembers which rows have changed while somebody reads, so that a reader does not put a row into the row cache that
/// somebody else has changed after it was read.
struct ChangedRows {
  /// How many rows are remembered. If more change, those who are reading keep nothing that they have read.
  static let limit = 100_000

  private var count: UInt64 = 0
  /// How many changes there had been when each of those who are reading began, in that order.
  private var readers: [UInt64] = []
  /// The number of each row's last change.
  private var changes: [NSManagedObjectID: UInt64] = [:]
  /// The number of the last change that is forgotten.
  private var forgotten: UInt64 = 0

  /// Whether somebody is reading.
  var areWatched: Bool { !readers.isEmpty }

  /// Begins to read, and returns a number to end with.
  mutating func beginReading() -> UInt64 {
    readers.append(count)
    return count
  }

  mutating func endReading(_ start: UInt64) {
    guard let place = readers.firstIndex(of: start) else { fatalError("A reader has ended twice.") }
    readers.remove(at: place)
    if readers.isEmpty, !changes.isEmpty { changes = [:] }
  }

  /// Notes that a row has changed or is gone.
  ///
  /// - Complexity: Amortised O(1).
  mutating func note(_ id: NSManagedObjectID) {
    guard let oldest = readers.first else { return }
    count += 1
    changes[id] = count
    guard changes.count > Self.limit else { return }
    changes = changes.filter { $0.value > oldest }
    if changes.count > Self.limit / 2 { (changes, forgotten) = ([:], count) }
  }

  /// Whether a row may have changed since somebody began to read who has not ended yet.
  func mayHaveChanged(_ id: NSManagedObjectID, since start: UInt64) -> Bool {
    start < forgotten || changes[id].map { $0 > start } ?? false
  }
}
