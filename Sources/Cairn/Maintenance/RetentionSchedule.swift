/// What a keyspace's retention was from when on, and what that leaves of a row's versions.
///
/// A version goes when it is one too many, and does not come back when more are kept later. So it has to be among the newest
/// at the end of each retention there was. Versions that have gone need not be known: those that were kept instead of them
/// say the same.
package struct RetentionSchedule {
  private struct Setting {
    var since: UInt64
    var oldVersions: UInt32
  }

  private var settings: [Setting]

  package init(oldVersions: UInt32) { settings = [Setting(since: 0, oldVersions: oldVersions)] }

  /// In any order; one that comes twice counts once.
  package mutating func add(oldVersions: UInt32, since: UInt64) {
    guard !settings.contains(where: { $0.since == since }) else { return }
    settings.append(Setting(since: since, oldVersions: oldVersions))
    settings.sort { $0.since < $1.since }
  }

  /// Whether there is more than what it began with.
  var hasChanged: Bool { settings.count > 1 }

  package var current: (oldVersions: UInt32, since: UInt64) {
    let last = settings[settings.count - 1]
    return (last.oldVersions, last.since)
  }

  /// How many versions of a row are kept, of these, which come newest first. A deletion is none where only the newest is
  /// kept, nor where nothing older is left of the row.
  package func keptCount(_ versions: [(revision: UInt64, isTombstone: Bool)]) -> Int {
    var count = versions.count
    for (position, setting) in settings.enumerated() {
      let end = position + 1 < settings.count ? settings[position + 1].since : .max
      guard let newest = versions.firstIndex(where: { $0.revision < end }) else { continue }
      let isGone = setting.oldVersions == 0 && versions[newest].isTombstone
      count = min(count, newest + (isGone ? 0 : Int(setting.oldVersions) + 1))
    }
    return count == 1 && versions[0].isTombstone ? 0 : count
  }
}
