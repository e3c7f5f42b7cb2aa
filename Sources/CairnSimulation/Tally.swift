import Cairn

/// Counts of what has been run, checked and met.
package struct Tally: Sendable, Hashable {
  package var programs = 0
  package var exhaustivePrograms = 0
  package var metamorphicPrograms = 0
  package var steps = 0
  package var commits = 0
  package var dictionaries = 0
  /// Disks as a crash may leave them, each of them opened and compared.
  package var crashStates = 0
  /// Of these, crashes during the recovery from an earlier crash or during the first write after it.
  package var secondCrashes = 0
  /// `recoveries`: stores opened. `checks`: rows, counts, scans and figures compared in them.
  package var recoveries = 0
  package var checks = 0
  package var readersBeside = 0
  /// Openings, reads and writes that were refused with an error on damaged disks.
  package var refused = 0
  /// Stores opened up to an earlier commit: for reading, for writing, and those that refused because of a compaction.
  package var lookedBack = 0
  package var wentBack = 0
  package var refusedToGoBack = 0
  /// Changes since an earlier commit: read and compared, and refused because deletions were forgotten.
  package var readChanges = 0
  package var expiredPositions = 0
  /// Stores closed by a step of their own and left closed.
  package var closings = 0
  /// `deeds`: deeds done in the middle of other work. `endedAmid`: those that ended a snapshot.
  package var deeds = 0
  package var endedAmid = 0
  package var faults: [Fault: Int] = [:]
  package var namesLost = 0
  package var namesKept = 0
  package var lengthsLost = 0
  package var lengthsKept = 0
  package var blocksLost = 0
  package var blocksKept = 0
  package var blocksZeroed = 0
  package var blocksTorn = 0

  package init() {}

  mutating func add(_ crash: MemoryFileLayer.CrashTally) {
    namesLost += crash.namesLost
    namesKept += crash.namesKept
    lengthsLost += crash.lengthsLost
    lengthsKept += crash.lengthsKept
    blocksLost += crash.blocksLost
    blocksKept += crash.blocksKept
    blocksZeroed += crash.blocksZeroed
    blocksTorn += crash.blocksTorn
  }

  /// Adds the faults that a file layer has met, when it is no longer used.
  mutating func add(_ files: MemoryFileLayer) {
    for fault in Fault.armed { faults[fault, default: 0] += files.struck(fault.rawValue) }
    faults[.misdirectedWrite, default: 0] += files.struck(Fault.misdirectedWrite.rawValue)
    faults[.falseSync, default: 0] += files.falseSyncs
  }

  package mutating func add(_ other: Tally) {
    func sum(_ path: WritableKeyPath<Tally, Int>) { self[keyPath: path] += other[keyPath: path] }
    for path in Self.numbers { sum(path) }
    for (fault, count) in other.faults { faults[fault, default: 0] += count }
  }

  private static var numbers: [WritableKeyPath<Tally, Int>] {
    [
      \.programs, \.exhaustivePrograms, \.metamorphicPrograms, \.steps, \.commits, \.dictionaries, \.crashStates,
      \.secondCrashes,
      \.recoveries, \.checks, \.readersBeside, \.refused, \.lookedBack,
      \.wentBack, \.refusedToGoBack, \.readChanges, \.expiredPositions, \.closings, \.deeds, \.endedAmid, \.namesLost,
      \.namesKept, \.lengthsLost,
      \.lengthsKept,
      \.blocksLost, \.blocksKept, \.blocksZeroed, \.blocksTorn,
    ]
  }
}
