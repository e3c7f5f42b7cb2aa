import CairnSimulation

/// Counts of what happened in programs.
struct CrashTally: Sendable, CustomStringConvertible {
  /// Disks left by a loss of power that were checked.
  var disks = 0
  var saves = 0
  /// Saves that failed because a deletion was denied.
  var denied = 0
  /// Saves that failed because something was related to a deleted thing.
  var dangling = 0
  /// Saves that failed because a key was taken.
  var conflicts = 0

  static func += (one: inout CrashTally, other: CrashTally) {
    one.disks += other.disks
    one.saves += other.saves
    one.denied += other.denied
    one.dangling += other.dangling
    one.conflicts += other.conflicts
  }

  var description: String {
    "\(disks) disks, \(saves) saves, \(denied) denied, \(dangling) dangling, \(conflicts) in conflict"
  }
}
