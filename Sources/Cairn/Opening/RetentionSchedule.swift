/// The retentions that a keyspace has had, each from a commit on, and the versions of a row that remain under them.
///
/// A version expires when it is one too many, and does not return when more are retained later. So it has to be among
/// the newest at the end of each retention there was. Expired versions need not be known: the versions that were
/// retained instead of them give the same answer.
package struct RetentionSchedule {
  private struct Setting {
    var since: CommitSequence
    var oldVersions: UInt32
  }

  private var settings: [Setting]

  package init(oldVersions: UInt32) { settings = [Setting(since: 0, oldVersions: oldVersions)] }

  /// Adds a retention, in any order; one that is added twice counts once.
  package mutating func add(oldVersions: UInt32, since: CommitSequence) {
    guard !settings.contains(where: { $0.since == since }) else { return }
    settings.append(Setting(since: since, oldVersions: oldVersions))
    settings.sort { $0.since < $1.since }
  }

  /// Whether a retention has been added to the first one.
  var hasChanged: Bool { settings.count > 1 }

  package var current: (oldVersions: UInt32, since: CommitSequence) {
    let last = settings[settings.count - 1]
    return (last.oldVersions, last.since)
  }

  /// How many of these versions of a row, which come newest first, are retained. A deletion is not retained where only
  /// the newest version is, nor where nothing older remains of the row.
  package func keptCount(_ versions: [(sequence: CommitSequence, isTombstone: Bool)]) -> Int {
    var count = versions.count
    for (position, setting) in settings.enumerated() {
      let end = position + 1 < settings.count ? settings[position + 1].since : .max
      guard let newest = versions.firstIndex(where: { $0.sequence < end }) else { continue }
      let isGone = setting.oldVersions == 0 && versions[newest].isTombstone
      count = min(count, newest + (isGone ? 0 : Int(setting.oldVersions) + 1))
    }
    return count == 1 && versions[0].isTombstone ? 0 : count
  }
}
