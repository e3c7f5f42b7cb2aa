import Foundation

extension Bug {
  /// The bug that a new tracker has under a number, the same one each time: one each minute since 2020. A quarter is
  /// closed; one of nine is nobody's.
  static func sample(_ id: Int) -> Bug {
    let assignee = id % (User.all.count + 1)
    return Bug(
      id: id, title: "\(parts[id / 5 % parts.count]) \(faults[id % faults.count])",
      state: id % 4 == 0 ? .closed : .open, assignee: assignee == 0 ? nil : User.all[assignee - 1],
      createdAt: start.addingTimeInterval(Double(id) * 60).formatted(.iso8601), version: 0)
  }

  private static let start = Date(timeIntervalSince1970: 1_577_836_800)
  private static let parts = [
    "The list", "The search", "The login", "The export", "The calendar", "The map", "The clock", "The printer",
  ]
  private static let faults = [
    "crashes", "flickers", "forgets its settings", "is too slow", "shows the wrong number",
  ]
}
