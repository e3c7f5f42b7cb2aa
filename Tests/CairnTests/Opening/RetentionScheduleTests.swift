import CairnSimulation
import Testing

@testable import Cairn

/// How many of a row's versions are kept under a retention that has changed.
@Suite struct RetentionScheduleTests {
  /// How many versions are kept, given their sequences, newest first and negative for deletions.
  private func kept(_ versions: [Int], _ settings: [(since: CommitSequence, count: UInt32)]) -> Int {
    var schedule = RetentionSchedule(oldVersions: 0)
    for setting in settings.reversed() { schedule.add(oldVersions: setting.count - 1, since: setting.since) }
    return schedule.keptCount(versions.map { (CommitSequence(UInt64(abs($0))), $0 < 0) })
  }

  @Test("Without a retention only the newest version is kept, and no deletion.") func newestOnly() {
    #expect(kept([3, 2, 1], []) == 1)
    #expect(kept([-3, 2, 1], []) == 0)
  }

  @Test("A version that expired under an earlier retention does not return under a later one.")
  func whatWasSupersededBeforeDoesNotComeBack() {
    #expect(kept([5, 4, 2, 1], [(3, 4)]) == 3)
    #expect(kept([4, 2, 1], [(6, 4)]) == 1)
    #expect(kept([7, 4, 2, 1], [(6, 4)]) == 2)
    #expect(kept([9, 8, 7, 5, 4, 2], [(1, 9), (6, 2), (10, 9)]) == 2)
  }

  @Test("A deletion with no older version before it is not retained.") func aDeletionThatNothingIsBehindIsNone() {
    #expect(kept([-2, 1], [(3, 4)]) == 0)
    #expect(kept([4, -2, 1], [(3, 4)]) == 1)
    #expect(kept([-5, 4, -2, 1], [(3, 4)]) == 2)
  }

  /// Versions that are not kept may be missing or not: the number kept is the same.
  @Test("A retention schedule gives the same result without the versions that have expired.")
  func itDoesNotDependOnWhatHasGone() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<20_000 {
      var versions: [Int] = []
      var settings: [(since: CommitSequence, count: UInt32)] = []
      var isThere = false
      for time in 1...Int.random(in: 2...14, using: &random) {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: settings.append((CommitSequence(UInt64(time)), UInt32.random(in: 1...4, using: &random)))
        case 1 where isThere:
          versions.insert(-time, at: 0)
          isThere = false
        default:
          versions.insert(time, at: 0)
          isThere = true
        }
      }
      let count = kept(versions, settings)
      guard count > 0 else { continue }
      // Deletions stay here: compaction itself checks for a deletion with nothing older left.
      let gone = versions[count...].filter { $0 < 0 || Bool.random(using: &random) }
      #expect(kept(versions[..<count] + gone, settings) == count, "\(versions) \(settings)")
    }
  }
}
